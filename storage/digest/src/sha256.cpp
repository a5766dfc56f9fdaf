#include "torchwatch/digest/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cassert>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::digest {

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  assert(context_ && "out of memory");
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

void Sha256::add_field(std::string_view bytes) {
  add(std::to_string(bytes.size()));
  add(":");
  add(bytes);
}

std::string Sha256::digest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  return {bytes.begin(), bytes.begin() + size};
}

std::string Sha256::hex() {
  return hex_of(digest());
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace torchwatch::digest
