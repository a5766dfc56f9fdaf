#include "authentication.hpp"

#include <algorithm>
#include <cctype>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::http {
namespace {

constexpr double kFailuresMax = 5;
constexpr double kSecondsPerFailure = 12;
constexpr double kSecondsAtOnce = 10;
constexpr std::size_t kTokenBytesMax = 512;
constexpr std::size_t kSignedTokenBytesMax = 8U << 10U;
constexpr std::size_t kTokenRandomBytes = 32;

/// Returns the token of "Bearer TOKEN", the scheme in any case; "" for any other header.
std::string bearer_token(const std::string& authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool is_bearer =
      authorization.size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char wanted, unsigned char c) { return wanted == std::tolower(c); });
  return is_bearer ? authorization.substr(kScheme.size()) : "";
}

Reply must_authenticate(const std::string& detail, const std::string& remedy = {}) {
  return problem(401, detail, {{"WWW-Authenticate", "Bearer"}}, remedy);
}

}  // namespace

std::string hash_token(const std::string& token) {
  return digest::sha256_hex(token);
}

std::string make_token(platform::Random& random) {
  return "tw_" + random.token(kTokenRandomBytes);
}

Authentication::Authentication(TokenHolder tokens, bool local_may_read, bool others_may_read,
                               const platform::Clock& clock)
    : tokens_(std::move(tokens)),
      local_may_read_(local_may_read),
      others_may_read_(others_may_read),
      failures_(kFailuresMax, 1 / kSecondsPerFailure, clock) {}

std::optional<Identity> Authentication::identify(const std::string& authorization) const {
  const std::string token = bearer_token(authorization);
  if (token.empty() || token.size() > kSignedTokenBytesMax) return std::nullopt;
  if (tokens_.find && token.size() <= kTokenBytesMax) {
    if (auto known = tokens_.find(hash_token(token))) return known;
  }
  return tokens_.find_signed ? tokens_.find_signed(token) : std::nullopt;
}

std::optional<Reply> Authentication::refusal_of_change(const Identity& identity) const {
  if (!identity.once || (tokens_.spend && tokens_.spend(identity))) return std::nullopt;
  return must_authenticate("this token has changed something already, or is older than the service",
                           "ask the issuer for a new token for each change");
}

std::optional<Identity> Authentication::identify(const Request& request, bool is_page) const {
  const bool may_be_signed_in = is_page && request.authorization.empty() && !request.cookie.empty();
  if (!may_be_signed_in || !tokens_.find_signed_in) return identify(request.authorization);
  return tokens_.find_signed_in(request);
}

std::optional<Reply> Authentication::refusal_of(const Request& request, Scope needed,
                                                bool is_page) {
  if (request.peer) return std::nullopt;
  if (const auto identity = identify(request, is_page)) {
    if (needed == Scope::read) return std::nullopt;
    if (identity->scopes.contains(needed)) return refusal_of_change(*identity);
    return problem(403, "this token may not do that: it has the scopes " +
                            to_string(identity->scopes) + " and needs " +
                            std::string(to_string(needed)));
  }
  // Also for reading: whose token was revoked should learn it.
  if (!bearer_token(request.authorization).empty()) {
    if (auto limited = count_wrong_token(request.remote_address)) return limited;
    return must_authenticate("this token is not known, or was revoked");
  }
  const bool may_read = request.is_local ? local_may_read_ : others_may_read_;
  if (needed == Scope::read && may_read) return std::nullopt;
  return must_authenticate("a token is needed",
                           "send Authorization: Bearer TOKEN; `torchwatch token create` makes one");
}

std::optional<Reply> Authentication::count_wrong_token(const std::string& address) {
  const auto who = counted_as(address);
  const int wait = failures_.wait_of(who);
  failures_.count(who);
  if (wait == 0) return std::nullopt;
  return problem(429, "too many wrong tokens", {{"Retry-After", std::to_string(wait)}},
                 "try again later");
}

ReadBudget::ReadBudget(double requests_per_second, const platform::Clock& clock)
    : requests_(kSecondsAtOnce * requests_per_second, requests_per_second, clock) {}

std::optional<Reply> ReadBudget::refusal_of(const Head& head, const Origin& origin) {
  const auto who = counted_as(origin.address) + (head.path == "/healthz" ? " probe" : "");
  const int wait = requests_.wait_of(who);
  requests_.count(who);
  if (wait == 0) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  auto& refusal = refusals_[wait];
  if (!refusal) {
    refusal = problem(429, "too many requests without a token",
                      {{"Retry-After", std::to_string(wait)}}, "try again later");
  }
  return refusal;
}

}  // namespace torchwatch::http
