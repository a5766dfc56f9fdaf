#include "authentication.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::http {
namespace {

constexpr double kFailuresMax = 5;
constexpr double kSecondsPerFailure = 12;
constexpr std::size_t kAddressesMax = 4096;
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

FailureLimit::Bucket& FailureLimit::drained(const std::string& address) {
  const auto now = clock_.monotonic_now();
  // An attacker with many addresses must not fill the memory: the map starts over.
  if (buckets_.size() >= kAddressesMax && !buckets_.contains(address)) buckets_.clear();
  Bucket& bucket = buckets_[address];
  const double seconds = std::chrono::duration<double>(now - bucket.seen_at).count();
  bucket.failures = std::max(0.0, bucket.failures - seconds / kSecondsPerFailure);
  bucket.seen_at = now;
  return bucket;
}

int FailureLimit::wait_of(const std::string& address) {
  const std::scoped_lock lock(mutex_);
  const double over = drained(address).failures - (kFailuresMax - 1);
  return over <= 0 ? 0 : static_cast<int>(std::ceil(over * kSecondsPerFailure));
}

void FailureLimit::failed(const std::string& address) {
  const std::scoped_lock lock(mutex_);
  drained(address).failures += 1;
}

std::optional<Reply> Authentication::refusal_of(const Request& request) {
  if (token_sha256_.empty()) {
    return problem(403, "writing is disabled: set [web] token_file");
  }
  if (const int wait = limit_.wait_of(request.remote_address); wait > 0) {
    return with_header(problem(429, "too many failed authentications; try again later"),
                       "Retry-After", std::to_string(wait));
  }
  const std::string token = bearer_token(request.authorization);
  const bool is_known =
      !token.empty() && token.size() <= kTokenBytesMax && is_same(hash_token(token), token_sha256_);
  if (is_known) return std::nullopt;
  limit_.failed(request.remote_address);
  return with_header(problem(401, "missing or wrong token: send Authorization: Bearer TOKEN"),
                     "WWW-Authenticate", "Bearer");
}

}  // namespace torchwatch::http
