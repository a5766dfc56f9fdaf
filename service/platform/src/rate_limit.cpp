#include "torchwatch/platform/rate_limit.hpp"

#include <algorithm>
#include <cmath>

namespace torchwatch::platform {
namespace {

constexpr std::size_t kBucketsMax = 4096;

}  // namespace

RateLimit::Bucket& RateLimit::drained(const std::string& who) {
  const auto now = clock_.monotonic_now();
  // An attacker with many addresses must not fill the memory: the map starts over.
  if (buckets_.size() >= kBucketsMax && !buckets_.contains(who)) buckets_.clear();
  Bucket& bucket = buckets_[who];
  const double seconds = std::chrono::duration<double>(now - bucket.seen_at).count();
  bucket.used = std::max(0.0, bucket.used - seconds * per_second_);
  bucket.seen_at = now;
  return bucket;
}

int RateLimit::wait_of(const std::string& who) {
  const std::scoped_lock lock(mutex_);
  const double over = drained(who).used - (burst_ - 1);
  return over <= 0 ? 0 : static_cast<int>(std::ceil(over / per_second_));
}

void RateLimit::count(const std::string& who) {
  const std::scoped_lock lock(mutex_);
  Bucket& bucket = drained(who);
  // What is refused is not added up: whoever stops is let in again soon.
  bucket.used = std::min(bucket.used + 1, burst_);
}

}  // namespace torchwatch::platform
