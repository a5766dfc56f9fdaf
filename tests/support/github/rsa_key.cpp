#include "rsa_key.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

namespace torchwatch::test {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

RsaKey make_rsa_key() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const Bio secret(BIO_new(BIO_s_mem()), BIO_free);
  const Bio open(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  PEM_write_bio_PUBKEY(open.get(), key.get());
  return {.secret = text_of(secret.get()), .open = text_of(open.get())};
}

}  // namespace torchwatch::test
