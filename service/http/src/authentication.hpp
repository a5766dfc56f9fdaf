#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/http/exchange.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::http {

/// Limits failed authentications per address: five at once, then one every twelve seconds. Further
/// requests are refused without a look at their token. Thread-safe.
class FailureLimit {
 public:
  explicit FailureLimit(const platform::Clock& clock) : clock_(clock) {}

  /// Returns the seconds until the address may try again; 0: now.
  int wait_of(const std::string& address);
  void failed(const std::string& address);

 private:
  struct Bucket {
    double failures = 0;
    std::chrono::nanoseconds seen_at{0};
  };
  Bucket& drained(const std::string& address);

  const platform::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

/// Checks bearer tokens, of which only the SHA-256 is known. Thread-safe.
class Authentication {
 public:
  Authentication(std::string token_sha256, const platform::Clock& clock)
      : token_sha256_(std::move(token_sha256)), limit_(clock) {}

  /// Returns the refusal of a request that may not write (401, 403, 429); nothing if it may.
  std::optional<Reply> refusal_of(const Request&);

 private:
  const std::string token_sha256_;
  FailureLimit limit_;
};

}  // namespace torchwatch::http
