#pragma once

#include <string>
#include <string_view>

namespace torchwatch::storage {

/// SHA-256 as 64 hexadecimal digits (OpenSSL's libcrypto).
std::string sha256(std::string_view bytes);

}  // namespace torchwatch::storage
