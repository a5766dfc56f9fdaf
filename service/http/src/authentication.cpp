#include "authentication.hpp"

#include <openssl/crypto.h>

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

/// Returns the token of "Bearer TOKEN", the scheme in any case; "" for any other header.
std::string bearer_token(const std::string& authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool is_bearer =
      authorization.size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char wanted, unsigned char c) { return wanted == std::tolower(c); });
  return is_bearer ? authorization.substr(kScheme.size()) : "";
}

bool is_same(const std::string& left, const std::string& right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

Reply with_header(Reply reply, const std::string& name, const std::string& value) {
  reply.headers.emplace(name, value);
  return reply;
}

}  // namespace

std::string hash_token(const std::string& token) {
  return digest::sha256_hex(token);
}

Authentication::Authentication(std::string token_sha256, const platform::Clock& clock)
    : token_sha256_(std::move(token_sha256)),
      failures_(kFailuresMax, 1 / kSecondsPerFailure, clock) {}

bool Authentication::is_right(const std::string& authorization) const {
  const std::string token = bearer_token(authorization);
  return !token_sha256_.empty() && !token.empty() && token.size() <= kTokenBytesMax &&
         is_same(hash_token(token), token_sha256_);
}

std::optional<Reply> Authentication::refusal_of(const Request& request) {
  if (token_sha256_.empty()) {
    return problem(403, "writing is disabled: set [web] token_file");
  }
  if (is_right(request.authorization)) return std::nullopt;
  const auto who = counted_as(request.remote_address);
  const int wait = failures_.wait_of(who);
  failures_.count(who);
  if (wait > 0) {
    return with_header(problem(429, "too many failed authentications; try again later"),
                       "Retry-After", std::to_string(wait));
  }
  return with_header(problem(401, "missing or wrong token: send Authorization: Bearer TOKEN"),
                     "WWW-Authenticate", "Bearer");
}

ReadBudget::ReadBudget(double requests_per_second, const platform::Clock& clock)
    : requests_(kSecondsAtOnce * requests_per_second, requests_per_second, clock) {}

std::optional<Reply> ReadBudget::refusal_of(const Head& head, const Origin& origin) {
  const auto who = counted_as(origin.address) + (head.path == "/healthz" ? " probe" : "");
  const int wait = requests_.wait_of(who);
  requests_.count(who);
  if (wait == 0) return std::nullopt;
  return with_header(problem(429, "too many requests without a token; try again later"),
                     "Retry-After", std::to_string(wait));
}

}  // namespace torchwatch::http
