#include "torchwatch/github/traffic.hpp"

#include <algorithm>

namespace torchwatch::github {
namespace {

/// Pages of a list are a few hundred kilobytes; what is forgotten is asked for again.
constexpr std::size_t kKeptBytesMax = std::size_t{8} << 20U;

}  // namespace

std::unique_lock<std::mutex> Traffic::begin_write(const platform::Clock& clock,
                                                  std::chrono::nanoseconds interval,
                                                  std::stop_token stop) {
  std::unique_lock turn(writing_);
  const auto now = clock.monotonic_now();
  if (last_write_ && now < *last_write_ + interval) {
    clock.wait(*last_write_ + interval - now, std::move(stop));
  }
  last_write_ = clock.monotonic_now();
  return turn;
}

void Traffic::pause_until(std::chrono::nanoseconds end) {
  const std::scoped_lock lock(pausing_);
  paused_until_ = std::max(paused_until_, end);
}

void Traffic::end_pause() {
  const std::scoped_lock lock(pausing_);
  paused_until_ = std::chrono::nanoseconds{0};
}

std::chrono::nanoseconds Traffic::pause_left(const platform::Clock& clock) const {
  const std::scoped_lock lock(pausing_);
  return paused_until_ - clock.monotonic_now();
}

std::optional<platform::HttpResponse> Traffic::kept(const std::string& url) const {
  const std::scoped_lock lock(keeping_);
  const auto found = answers_.find(url);
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

void Traffic::keep(const std::string& url, const platform::HttpResponse& answer) {
  if (!answer.headers.contains("etag") || answer.body.size() > kKeptBytesMax) return;
  const std::scoped_lock lock(keeping_);
  if (bytes_ + answer.body.size() > kKeptBytesMax) {
    answers_.clear();
    bytes_ = 0;
  }
  auto& place = answers_[url];
  bytes_ += answer.body.size() - place.body.size();
  place = answer;
}

}  // namespace torchwatch::github
