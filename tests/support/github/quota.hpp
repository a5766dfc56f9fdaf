#pragma once

#include <deque>
#include <optional>

#include "message.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::test {

/// GitHub's limits: requests an hour (primary), content made a minute and an hour (secondary). A
/// conditional request that is answered by 304 costs nothing.
class GithubQuota {
 public:
  struct Limits {
    int requests_per_hour = 5000;
    int content_per_minute = 80;
    int content_per_hour = 500;
  };
  static Limits unlimited() { return {1'000'000'000, 1'000'000'000, 1'000'000'000}; }
  explicit GithubQuota(const platform::Clock& clock) : clock_(clock) {}

  void set(Limits limits) { limits_ = limits; }
  /// GitHub's refusal, where a limit is reached.
  std::optional<GithubAnswer> refuse(const GithubRequest&);
  void count(const GithubRequest&, const GithubAnswer&);
  /// Tells of the quota, as every answer does.
  std::multimap<std::string, std::string> headers() const;
  nlohmann::json shape() const;  ///< of /rate_limit

  int refusals() const { return refusals_; }
  int used() const { return used_; }

 private:
  void begin_hour();
  int made_since(std::chrono::seconds) const;

  const platform::Clock& clock_;
  Limits limits_;
  platform::WallMillis reset_at_ = 0;
  int used_ = 0;
  int refusals_ = 0;
  std::deque<platform::WallMillis> made_;
};

}  // namespace torchwatch::test
