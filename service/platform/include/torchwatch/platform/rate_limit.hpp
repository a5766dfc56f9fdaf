#pragma once

#include <map>
#include <mutex>
#include <string>

#include "torchwatch/platform/clock.hpp"

namespace torchwatch::platform {

/// Limits how often somebody does something: `burst` times at once, then `per_second` on average.
/// Who somebody is, an address for instance, is a text. Thread-safe.
class RateLimit {
 public:
  RateLimit(double burst, double per_second, const Clock& clock)
      : burst_(burst), per_second_(per_second), clock_(clock) {}

  /// Returns the whole seconds until `who` may do it again; 0: now.
  int wait_of(const std::string& who);
  /// Counts one time, whether it was allowed or not.
  void count(const std::string& who);

 private:
  struct Bucket {
    double used = 0;
    std::chrono::nanoseconds seen_at{0};
  };
  Bucket& drained(const std::string& who);

  const double burst_;
  const double per_second_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace torchwatch::platform
