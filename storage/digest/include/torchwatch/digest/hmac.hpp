#pragma once

#include <string>
#include <string_view>

namespace torchwatch::digest {

/// Returns the HMAC-SHA256 of the bytes under a key, as 64 lower-case hex digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);

}  // namespace torchwatch::digest
