#include "torchwatch/digest/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::digest {

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  // Without memory for it there is no digest, and what is empty matches nothing.
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), &size);
  return hex_of(std::string(digest.begin(), digest.begin() + size));
}

}  // namespace torchwatch::digest
