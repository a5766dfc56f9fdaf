#pragma once

#include <atomic>

#include "torchwatch/platform/clock.hpp"

namespace torchwatch::test {

/// A clock that stands still until it is moved. Wall and monotonic time can be moved apart, as a
/// clock step does.
class FakeClock final : public platform::Clock {
 public:
  explicit FakeClock(platform::WallMillis wall = 1'786'849'445'000) : wall_ms_(wall) {}

  platform::WallMillis wall_now() const override { return wall_ms_; }
  std::chrono::nanoseconds monotonic_now() const override {
    return std::chrono::nanoseconds(monotonic_ns_);
  }

  /// Time passes on both clocks.
  void advance(std::chrono::milliseconds by) {
    wall_ms_ += by.count();
    monotonic_ns_ += std::chrono::nanoseconds(by).count();
  }
  /// Whoever waits makes the time pass.
  void wait(std::chrono::nanoseconds duration, std::stop_token) const override {
    wall_ms_ += std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    monotonic_ns_ += duration.count();
  }
  /// Somebody sets the wall clock.
  void step_wall(std::chrono::milliseconds by) { wall_ms_ += by.count(); }

 private:
  mutable std::atomic<platform::WallMillis> wall_ms_;
  mutable std::atomic<std::int64_t> monotonic_ns_{1'000'000'000};
};

}  // namespace torchwatch::test
