#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "exchange.hpp"
#include "torchwatch/doors/clock.hpp"

namespace torchwatch::web {

/// Five failures at once and one more every twelve seconds from one address; then its requests
/// are refused unseen. Thread-safe.
class FailureLimit {
 public:
  explicit FailureLimit(const doors::Clock& clock) : clock_(clock) {}

  /// Seconds until the address may try again; 0: now.
  int wait_of(const std::string& address);
  void failed(const std::string& address);

 private:
  struct Bucket {
    double failures = 0;
    std::chrono::nanoseconds seen_at{0};
  };
  Bucket& drained(const std::string& address);

  const doors::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

/// Bearer tokens, known by their SHA-256 only. Thread-safe.
class Authentication {
 public:
  Authentication(std::string token_sha256, const doors::Clock& clock)
      : token_sha256_(std::move(token_sha256)), limit_(clock) {}

  /// Why the request may not write (401, 403, 429); nothing when it may.
  std::optional<Reply> refusal_of(const Request&);

 private:
  const std::string token_sha256_;
  FailureLimit limit_;
};

}  // namespace torchwatch::web
