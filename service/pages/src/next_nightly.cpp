#include <algorithm>

#include "overview_parts.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::pages {
namespace {

using storage::WallMillis;

constexpr int kNightliesLookedAt = 7;
constexpr std::size_t kEstimatedFromMin = 3;
constexpr WallMillis kMinute = 60'000;
constexpr WallMillis kTogether = 60 * kMinute;
constexpr int kDay = 24 * 60;  ///< in minutes
constexpr int kSpreadMax = kDay / 2;

/// "09:40", of minutes after midnight.
std::string clock_text(int minutes) {
  constexpr std::size_t kDate = 11;  // "1970-01-02 "
  return platform::date_and_minute((kDay + minutes) * kMinute).substr(kDate);
}

void drop_what_came_together(std::vector<WallMillis>& came) {
  std::ranges::sort(came);
  const auto is_together = [](WallMillis one, WallMillis next) { return next - one < kTogether; };
  const auto rest = std::ranges::unique(came, is_together);
  came.erase(rest.begin(), rest.end());
}

std::string estimate_text(const std::vector<storage::ComparisonRow>& nightlies) {
  std::vector<WallMillis> came;
  for (const auto& row : nightlies) came.push_back(row.created_at);
  const auto usual = usual_time(came);
  if (!usual) return "";
  const auto last = "the last " + std::to_string(usual->count);
  const auto from = clock_text(usual->earliest);
  const auto to = clock_text(usual->latest);
  return " As an estimate, it is found at about " + clock_text(usual->middle) + " UTC" +
         (from == to ? ", as " + last + " were."
                     : ": " + last + " came between " + from + " and " + to + ".");
}

/// Empty where no alarm is to come, and where it has come.
std::string alarm_text(const storage::DataTimes& times, const View& view) {
  const auto limit = view.sources.no_nightly_alarm;
  if (limit.count() == 0 || !times.last_nightly) return "";
  const auto due = *times.last_nightly + std::chrono::milliseconds(limit).count();
  if (due < view.sources.clock.wall_now()) return "";
  return " An alarm is raised if none is found by " + platform::date_and_minute(due) + " UTC.";
}

}  // namespace

std::optional<UsualTime> usual_time(std::vector<WallMillis> came) {
  drop_what_came_together(came);
  if (came.size() < kEstimatedFromMin) return std::nullopt;
  std::vector<int> minutes;
  for (const auto at : came) minutes.push_back(static_cast<int>(at / kMinute % kDay));
  std::ranges::sort(minutes);
  // A day is a circle: it is cut where for the longest nothing came.
  const auto gap_before = [&](std::size_t i) {
    const auto before = minutes[(i + minutes.size() - 1) % minutes.size()];
    const auto gap = (minutes[i] - before + kDay) % kDay;
    return gap == 0 && minutes.front() == minutes.back() ? kDay : gap;
  };
  std::size_t first = 0;
  for (std::size_t i = 1; i < minutes.size(); ++i) {
    if (gap_before(i) > gap_before(first)) first = i;
  }
  if (kDay - gap_before(first) > kSpreadMax) return std::nullopt;
  std::ranges::rotate(minutes, minutes.begin() + static_cast<std::ptrdiff_t>(first));
  return UsualTime{.earliest = minutes.front(),
                   .middle = minutes[(minutes.size() - 1) / 2],
                   .latest = minutes.back(),
                   .count = minutes.size()};
}

Result<html::Fragment> expectation_of_nightly(const storage::DataTimes& times, const View& view) {
  TW_TRY(const auto nightlies, storage::ComparisonStore(view.sources.database)
                                   .nightlies_before(INT64_MAX, kNightliesLookedAt));
  return html::text(estimate_text(nightlies) + alarm_text(times, view));
}

}  // namespace torchwatch::pages
