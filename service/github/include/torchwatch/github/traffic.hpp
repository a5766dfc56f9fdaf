#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::github {

/// What all requests of a process must know of one another to stay within GitHub's limits: when it
/// wrote last, how long GitHub wants to be left alone, and which answers it has. Thread-safe.
class Traffic {
 public:
  /// Waits until nobody else writes and the last write began at least `interval` ago, or `stop` is
  /// requested. The caller writes while it holds what is returned.
  [[nodiscard]] std::unique_lock<std::mutex> begin_write(const platform::Clock&,
                                                         std::chrono::nanoseconds interval,
                                                         std::stop_token stop);

  /// GitHub has asked for a pause, which ends then (monotonic). The longest one counts.
  void pause_until(std::chrono::nanoseconds end);
  /// Nobody need wait any longer: there is another token.
  void end_pause();
  /// How much of the pause is left; 0 or less: there is none.
  std::chrono::nanoseconds pause_left(const platform::Clock&) const;

  /// The answer to a GET of `url` that came with an ETag, for If-None-Match: a 304 costs no quota.
  std::optional<platform::HttpResponse> kept(const std::string& url) const;
  void keep(const std::string& url, const platform::HttpResponse&);

 private:
  std::mutex writing_;
  std::optional<std::chrono::nanoseconds> last_write_;  ///< monotonic
  mutable std::mutex pausing_;
  std::chrono::nanoseconds paused_until_{0};  ///< monotonic
  mutable std::mutex keeping_;
  std::map<std::string, platform::HttpResponse> answers_;
  std::size_t bytes_ = 0;
};

}  // namespace torchwatch::github
