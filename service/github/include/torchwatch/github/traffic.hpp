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
/// wrote last, and which answers it has. Thread-safe.
class Traffic {
 public:
  /// Waits until nobody else writes and the last write began at least `interval` ago, or `stop` is
  /// requested. The caller writes while it holds what is returned.
  [[nodiscard]] std::unique_lock<std::mutex> begin_write(const platform::Clock&,
                                                         std::chrono::nanoseconds interval,
                                                         std::stop_token stop);

  /// The answer to a GET of `url` that came with an ETag, for If-None-Match: a 304 costs no quota.
  std::optional<platform::HttpResponse> kept(const std::string& url) const;
  void keep(const std::string& url, const platform::HttpResponse&);

 private:
  std::mutex writing_;
  std::optional<std::chrono::nanoseconds> last_write_;  ///< monotonic
  mutable std::mutex keeping_;
  std::map<std::string, platform::HttpResponse> answers_;
  std::size_t bytes_ = 0;
};

}  // namespace torchwatch::github
