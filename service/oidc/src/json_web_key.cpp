#include "json_web_key.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace torchwatch::oidc {
namespace {

using nlohmann::json;

constexpr int kBitsMin = 2'048;
constexpr int kBitsMax = 8'192;
constexpr std::size_t kKeysMax = 64;
constexpr std::size_t kKeyIdBytesMax = 256;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* of) const {
    Free(of);
  }
};
using BigNumber = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using Context = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using PublicKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Text = std::unique_ptr<BIO, Freed<BIO_free_all>>;

std::string text_of(const json& object, const char* member) {
  const auto found = object.find(member);
  const bool is_text = found != object.end() && found->is_string();
  return is_text ? found->get<std::string>() : std::string();
}

/// Reads a number in base64url without padding; nothing if the text holds none.
BigNumber number_of(std::string text) {
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  const auto padding = (4 - text.size() % 4) % 4;
  if (text.empty() || padding == 3) return nullptr;
  text.append(padding, '=');
  std::vector<unsigned char> bytes(text.size() / 4 * 3);
  const int read =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (read < 0) return nullptr;
  return BigNumber(BN_bin2bn(bytes.data(), read - static_cast<int>(padding), nullptr));
}

PublicKey public_key(const BIGNUM& modulus, const BIGNUM& exponent) {
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, &modulus) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, &exponent) != 1) {
    return nullptr;
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Context context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters && context && EVP_PKEY_fromdata_init(context.get()) == 1) {
    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get());
  }
  return PublicKey(key);
}

std::optional<std::string> written(EVP_PKEY& key) {
  const Text text(BIO_new(BIO_s_mem()));
  if (!text || PEM_write_bio_PUBKEY(text.get(), &key) != 1) return std::nullopt;
  char* begin = nullptr;
  const long size = BIO_get_mem_data(text.get(), &begin);
  return std::string(begin, static_cast<std::size_t>(size));
}

bool is_for_rs256(const json& key) {
  const auto use = text_of(key, "use");
  const auto algorithm = text_of(key, "alg");
  return text_of(key, "kty") == "RSA" && (use.empty() || use == "sig") &&
         (algorithm.empty() || algorithm == "RS256");
}

std::optional<std::string> pem_of(const json& key) {
  if (!is_for_rs256(key)) return std::nullopt;
  const auto modulus = number_of(text_of(key, "n"));
  const auto exponent = number_of(text_of(key, "e"));
  if (!modulus || !exponent || BN_is_odd(exponent.get()) != 1 || BN_is_one(exponent.get()) == 1) {
    return std::nullopt;
  }
  const int bits = BN_num_bits(modulus.get());
  if (bits < kBitsMin || bits > kBitsMax) return std::nullopt;
  const auto made = public_key(*modulus, *exponent);
  return made ? written(*made) : std::nullopt;
}

}  // namespace

Result<std::map<std::string, std::string>> keys_of_set(const std::string& text) {
  const auto set = json::parse(text, nullptr, false);
  const auto keys = set.is_object() ? set.find("keys") : set.end();
  if (!set.is_object() || keys == set.end() || !keys->is_array() || keys->size() > kKeysMax) {
    return fail(ErrorCode::corrupt, "it holds no set of keys");
  }
  std::map<std::string, std::string> pems;
  for (const auto& key : *keys) {
    if (!key.is_object()) continue;
    const auto id = text_of(key, "kid");
    if (id.empty() || id.size() > kKeyIdBytesMax) continue;
    if (auto pem = pem_of(key)) pems[id] = *std::move(pem);
  }
  if (!pems.empty()) return pems;
  return fail(ErrorCode::corrupt, "it holds no RSA key of 2,048 bits or more for RS256");
}

}  // namespace torchwatch::oidc
