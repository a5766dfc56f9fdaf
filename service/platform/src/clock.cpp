#include "torchwatch/platform/clock.hpp"

#include <array>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>

namespace torchwatch::platform {

WallMillis SystemClock::wall_now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

std::chrono::nanoseconds SystemClock::monotonic_now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

void SystemClock::wait(std::chrono::nanoseconds duration, std::stop_token stop) const {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, std::move(stop), duration, [] { return false; });
}

std::string iso_utc(WallMillis millis) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(millis));
  const std::time_t seconds = whole.count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::optional<WallMillis> parse_iso_utc(const std::string& text) {
  std::tm parts{};
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return WallMillis{timegm(&parts)} * 1000;
}

std::string date_and_minute(WallMillis millis) {
  if (millis == 0) return {};
  auto text = iso_utc(millis).substr(0, 16);
  text[10] = ' ';
  return text;
}

}  // namespace torchwatch::platform
