#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace torchwatch::platform {

/// Milliseconds since the epoch, UTC. For display and due dates only, never for a deadline.
using WallMillis = std::int64_t;

/// Wall time and monotonic time apart (a clock step must not move a deadline). Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallMillis wall_now() const = 0;
  virtual std::chrono::nanoseconds monotonic_now() const = 0;
  /// Waits until that much time has passed, or `stop` is requested.
  virtual void wait(std::chrono::nanoseconds, std::stop_token stop) const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  WallMillis wall_now() const override;
  std::chrono::nanoseconds monotonic_now() const override;
  void wait(std::chrono::nanoseconds, std::stop_token stop) const override;
};

/// "2026-08-16T03:04:05Z".
std::string iso_utc(WallMillis);
/// Reads what `iso_utc` wrote; nothing if it is not such a text.
std::optional<WallMillis> parse_iso_utc(const std::string&);

/// The same for people: "2026-08-16 03:04"; empty for 0, which stands for never.
std::string date_and_minute(WallMillis);

}  // namespace torchwatch::platform
