#include "json_web_token.hpp"

#include <jwt.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace torchwatch::oidc {
namespace {

using nlohmann::json;

constexpr std::size_t kTokenBytesMax = 8U << 10U;

struct FreeToken {
  void operator()(jwt_t* token) const { jwt_free(token); }
};
struct FreeText {
  // The library hands out what it has from malloc.
  void operator()(char* text) const { std::free(text); }  // NOLINT(cppcoreguidelines-no-malloc)
};
using Token = std::unique_ptr<jwt_t, FreeToken>;

/// Reads a token; with a key in PEM its signature must be right.
Token decode(const std::string& text, const std::string* pem) {
  jwt_t* token = nullptr;
  const auto* key = pem == nullptr ? nullptr : reinterpret_cast<const unsigned char*>(pem->data());
  const int length = pem == nullptr ? 0 : static_cast<int>(pem->size());
  if (jwt_decode(&token, text.c_str(), key, length) != 0) return nullptr;
  return Token(token);
}

json object_of(char* owned) {
  const std::unique_ptr<char, FreeText> text(owned);
  return text ? json::parse(text.get(), nullptr, false) : json();
}

}  // namespace

Result<Unverified> read_token(const std::string& text) {
  const bool has_three_parts = std::ranges::count(text, '.') == 2;
  if (text.size() > kTokenBytesMax || !has_three_parts) {
    return fail(ErrorCode::invalid, "it is no JSON web token");
  }
  const auto token = decode(text, nullptr);
  if (!token) return fail(ErrorCode::invalid, "it is no JSON web token");
  const auto header = object_of(jwt_get_headers_json(token.get(), nullptr));
  auto claims = object_of(jwt_get_grants_json(token.get(), nullptr));
  if (!header.is_object() || !claims.is_object()) {
    return fail(ErrorCode::invalid, "it is no JSON web token");
  }
  // With HS256 the public key, which everybody knows, would be the secret.
  if (header.value("alg", json()) != "RS256") {
    return fail(ErrorCode::invalid, "it is not signed with RS256");
  }
  if (header.contains("crit")) return fail(ErrorCode::invalid, "it demands an extension");
  const auto key_id = header.find("kid");
  if (key_id == header.end() || !key_id->is_string()) {
    return fail(ErrorCode::invalid, "it names no key");
  }
  return Unverified{.key_id = key_id->get<std::string>(), .claims = std::move(claims)};
}

bool is_signed_by(const std::string& text, const std::string& pem) {
  const auto token = decode(text, &pem);
  return token && jwt_get_alg(token.get()) == JWT_ALG_RS256;
}

}  // namespace torchwatch::oidc
