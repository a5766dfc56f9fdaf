#pragma once

#include <string>
#include <string_view>

namespace torchwatch::webhooks {

/// Returns "sha256=" and the hex HMAC-SHA256 of the bytes, as GitHub signs a delivery.
std::string signature_of(std::string_view secret, std::string_view bytes);

/// Returns whether the signature is that of the bytes, in a time that does not depend on where it
/// is wrong. Never with an empty secret.
bool is_signed(std::string_view secret, std::string_view bytes, std::string_view signature);

}  // namespace torchwatch::webhooks
