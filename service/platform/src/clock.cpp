#include "torchwatch/platform/clock.hpp"

#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <utility>

namespace torchwatch::platform {
namespace {

/// A number with zeros in front, of at most that many digits.
template <std::size_t kCount>
std::string digits(std::int64_t number) {
  std::string text(kCount, '0');
  for (std::size_t i = kCount; i > 0 && number > 0; number /= 10) {
    text[--i] = static_cast<char>('0' + number % 10);
  }
  return text;
}

}  // namespace

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

// Lists write thousands of them: strftime takes five times as long.
std::string iso_utc(WallMillis millis) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(millis));
  const auto day = std::chrono::floor<std::chrono::days>(whole);
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  const std::chrono::hh_mm_ss time(whole - day);
  const auto year = int{date.year()};
  std::string text = year > 9999 ? std::to_string(year) : digits<4>(year);
  text += "-" + digits<2>(unsigned{date.month()}) + "-" + digits<2>(unsigned{date.day()});
  text += "T" + digits<2>(time.hours().count()) + ":" + digits<2>(time.minutes().count());
  return text + ":" + digits<2>(time.seconds().count()) + "Z";
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
