#include "authentication.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "http_errors.hpp"
#include "torchwatch/web/server.hpp"

namespace torchwatch::web {
namespace {

constexpr double kFailuresMax = 5;
constexpr double kSecondsPerFailure = 12;
constexpr std::size_t kAddressesMax = 4096;
constexpr std::size_t kTokenBytesMax = 512;

/// The token of "Bearer TOKEN", the scheme in any case; empty when it is none.
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
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(token.data(), token.size(), digest.data(), &size, EVP_sha256(), nullptr);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4U];
    text += kHex[digest[i] & 15U];
  }
  return text;
}

FailureLimit::Bucket& FailureLimit::drained(const std::string& address) {
  const auto now = clock_.monotonic_now();
  // An attacker with many addresses must not fill the memory: the map begins anew.
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
    return problem(403, "nothing can be written here: no [web] token_file is configured");
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
  return with_header(problem(401, "this needs Authorization: Bearer with the daemon's token"),
                     "WWW-Authenticate", "Bearer");
}

}  // namespace torchwatch::web
