#include "accounts.hpp"

#include <jwt.h>

#include <algorithm>
#include <memory>

namespace torchwatch::test {
namespace {

using Jwt = std::unique_ptr<jwt_t, decltype(&jwt_free)>;

constexpr long kJwtLifeMax = 600;  // seconds

Jwt decoded(const std::string& text, const std::string& key) {
  jwt_t* token = nullptr;
  const int failed =
      jwt_decode(&token, text.c_str(), reinterpret_cast<const unsigned char*>(key.c_str()),
                 static_cast<int>(key.size()));
  if (failed == 0 && jwt_get_alg(token) == JWT_ALG_RS256) return {token, jwt_free};
  jwt_free(token);
  return {nullptr, jwt_free};
}

}  // namespace

void GithubAccounts::add_token(const std::string& token, GithubUser user,
                               std::optional<GithubPermissions> permissions) {
  tokens_[token] = {{.user = std::move(user), .permissions = std::move(permissions)}, {}};
}

void GithubAccounts::drop_token(const std::string& token) {
  tokens_.erase(token);
}

void GithubAccounts::add_app(GithubApp app) {
  apps_.push_back(std::move(app));
}

GithubApp* GithubAccounts::app(std::int64_t id) {
  const auto found = std::find_if(apps_.begin(), apps_.end(),
                                  [&](const GithubApp& each) { return each.id == id; });
  return found == apps_.end() ? nullptr : &*found;
}

std::pair<std::string, platform::WallMillis> GithubAccounts::make_token(const GithubApp& app) {
  // GitHub's tokens hold a JWT since 2026: nobody may count on their length.
  const std::string token = "ghs_" + std::to_string(app.id) + "_" +
                            std::to_string(made_tokens_.size() + 1) + "_" + std::string(700, 'x');
  const auto ends_at = clock_.wall_now() + std::chrono::milliseconds(app.token_life).count();
  GithubCaller caller;
  caller.user = {
      .login = app.slug + "[bot]", .id = 9'000'000 + app.id, .type = "Bot", .app = app.id};
  caller.permissions = app.permissions;
  caller.app = app.id;
  tokens_[token] = {std::move(caller), ends_at};
  made_tokens_.push_back(token);
  return {token, ends_at};
}

void GithubAccounts::end_installation_tokens() {
  std::erase_if(tokens_, [](const auto& each) { return each.second.ends_at.has_value(); });
}

std::variant<GithubCaller, GithubAnswer> GithubAccounts::app_of(const std::string& jwt) const {
  const long now = clock_.wall_now() / 1000;
  for (const auto& app : apps_) {
    const Jwt token = decoded(jwt, app.public_key);
    if (!token) continue;
    const char* issuer = jwt_get_grant(token.get(), "iss");
    const bool is_issuer = (issuer != nullptr && issuer == std::to_string(app.id)) ||
                           jwt_get_grant_int(token.get(), "iss") == app.id;
    if (!is_issuer) continue;
    const long made = jwt_get_grant_int(token.get(), "iat");
    const long end = jwt_get_grant_int(token.get(), "exp");
    if (made <= 0 || made > now) {
      return refusal(401,
                     "'Issued at' claim ('iat') must be an Integer representing the time that "
                     "the assertion was issued");
    }
    if (end > now + kJwtLifeMax) {
      return refusal(401, "'Expiration time' claim ('exp') is too far in the future");
    }
    if (end <= now) {
      return refusal(401,
                     "'Expiration time' claim ('exp') must be a numeric value representing "
                     "the future time at which the assertion expires");
    }
    return GithubCaller{.user = {.login = app.slug, .id = app.id},
                        .permissions = app.permissions,
                        .app = app.id,
                        .is_app_itself = true};
  }
  return refusal(401, "A JSON web token could not be decoded");
}

std::variant<GithubCaller, GithubAnswer> GithubAccounts::caller_of(
    const std::string& authorization) {
  const std::string scheme = "Bearer ";
  const std::string secret =
      authorization.starts_with(scheme) ? authorization.substr(scheme.size()) : "";
  const auto found = tokens_.find(secret);
  if (found != tokens_.end()) {
    const auto& token = found->second;
    if (!token.ends_at || clock_.wall_now() < *token.ends_at) return token.caller;
    return refusal(401, "Bad credentials");
  }
  if (!secret.starts_with("eyJ")) return refusal(401, "Bad credentials");
  seen_jwts_.push_back(secret);
  return app_of(secret);
}

}  // namespace torchwatch::test
