#include "torchwatch/webhooks/signature.hpp"

#include <openssl/crypto.h>

#include "torchwatch/digest/hmac.hpp"

namespace torchwatch::webhooks {

std::string signature_of(std::string_view secret, std::string_view bytes) {
  return "sha256=" + digest::hmac_sha256_hex(secret, bytes);
}

bool is_signed(std::string_view secret, std::string_view bytes, std::string_view signature) {
  if (secret.empty()) return false;
  const auto right = signature_of(secret, bytes);
  return right.size() == signature.size() &&
         CRYPTO_memcmp(right.data(), signature.data(), right.size()) == 0;
}

}  // namespace torchwatch::webhooks
