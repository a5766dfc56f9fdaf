#include "signing_key.hpp"

#include <jwt.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace torchwatch::test {
namespace {

using nlohmann::json;

std::string text_of(BIO* text) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(text, &begin);
  std::string made(begin, static_cast<std::size_t>(size));
  BIO_free_all(text);
  return made;
}

std::string base64url(const std::vector<unsigned char>& bytes) {
  std::string text(4 * (bytes.size() + 2) / 3 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::string encode(const json& claims, const json& header, jwt_alg_t algorithm,
                   const std::string& key) {
  jwt_t* token = nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (jwt_new(&token) != 0 ||
      jwt_set_alg(token, algorithm, key.empty() ? nullptr : bytes, static_cast<int>(key.size())) !=
          0 ||
      jwt_add_grants_json(token, claims.dump().c_str()) != 0 ||
      jwt_add_headers_json(token, header.dump().c_str()) != 0) {
    throw std::runtime_error("no token was made");
  }
  char* text = jwt_encode_str(token);
  const std::string made = text == nullptr ? "" : text;
  std::free(text);
  jwt_free(token);
  return made;
}

}  // namespace

struct SigningKey::Parts {
  std::string id;
  EVP_PKEY* key = nullptr;
  std::string private_pem;
  std::string public_pem;
};

SigningKey::SigningKey(std::string id, int bits) : parts_(std::make_unique<Parts>()) {
  parts_->id = std::move(id);
  parts_->key = EVP_RSA_gen(static_cast<unsigned int>(bits));
  BIO* text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(text, parts_->key, nullptr, nullptr, 0, nullptr, nullptr);
  parts_->private_pem = text_of(text);
  text = BIO_new(BIO_s_mem());
  PEM_write_bio_PUBKEY(text, parts_->key);
  parts_->public_pem = text_of(text);
}

SigningKey::~SigningKey() {
  EVP_PKEY_free(parts_->key);
}

std::string SigningKey::sign(const json& claims, const json& header) const {
  json whole{{"kid", parts_->id}};
  if (header.is_object()) whole.update(header);
  return encode(claims, whole, JWT_ALG_RS256, parts_->private_pem);
}

std::string SigningKey::sign_with_public_key(const json& claims) const {
  return encode(claims, {{"kid", parts_->id}}, JWT_ALG_HS256, parts_->public_pem);
}

std::string SigningKey::leave_unsigned(const json& claims) const {
  return encode(claims, {{"kid", parts_->id}}, JWT_ALG_NONE, "");
}

json SigningKey::published() const {
  json key{{"kty", "RSA"}, {"use", "sig"}, {"alg", "RS256"}, {"kid", parts_->id}};
  for (const auto& [member, name] :
       {std::pair{"n", OSSL_PKEY_PARAM_RSA_N}, std::pair{"e", OSSL_PKEY_PARAM_RSA_E}}) {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(parts_->key, name, &number);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(BN_num_bytes(number)));
    BN_bn2bin(number, bytes.data());
    BN_free(number);
    key[member] = base64url(bytes);
  }
  return key;
}

std::string set_of(const std::vector<json>& keys) {
  return json{{"keys", keys}}.dump();
}

}  // namespace torchwatch::test
