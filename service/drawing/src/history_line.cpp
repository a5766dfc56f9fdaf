#include "history_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "torchwatch/canvas/words.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

/// The number that the text has at a place, if that many digits stand there.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  if (text.size() < at + count) return std::nullopt;
  const auto* end = text.data() + at + count;
  const auto [rest, error] = std::from_chars(text.data() + at, end, number);
  if (error != std::errc{} || rest != end || number < 0) return std::nullopt;
  return number;
}

std::optional<Interval> interval_of(const History& history, const HistoryPoint& point) {
  if (history.is_ratio || history.is_logarithmic) return drawable(point.interval);
  if (!point.interval || !std::isfinite(point.interval->low) ||
      !std::isfinite(point.interval->high)) {
    return std::nullopt;
  }
  return point.interval;
}

}  // namespace

std::optional<double> days_of(std::string_view time) {
  const auto year = digits(time, 0, 4);
  const auto month = digits(time, 5, 2);
  const auto day = digits(time, 8, 2);
  if (!year || !month || !day || time[4] != '-' || time[7] != '-') return std::nullopt;
  const auto date = std::chrono::year(*year) / *month / *day;
  if (!date.ok()) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  const auto hours = digits(time, 11, 2).value_or(0);
  const auto minutes = digits(time, 14, 2).value_or(0);
  return days + hours / 24.0 + minutes / 1440.0;
}

std::string minute_of(std::string_view time) {
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kMinute = 16;
  if (time.size() < kMinute || !days_of(time)) return one_line(time);
  return one_line(time.substr(0, kDate)) + " " +
         one_line(time.substr(kDate + 1, kMinute - kDate - 1));
}

std::string shown_time(std::string_view time) {
  const auto minute = minute_of(time);
  return minute + (minute.find(':') == std::string::npos ? "" : " UTC");
}

std::string date_of(double days) {
  const std::chrono::year_month_day date(
      std::chrono::sys_days(std::chrono::days(std::llround(std::floor(days)))));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

Line line_of(const History& history) {
  Line line;
  for (const auto& point : history.points) {
    const bool is_above_0 = history.is_ratio || history.is_logarithmic;
    const bool is_drawn =
        is_above_0 ? drawable(point.value).has_value() : std::isfinite(point.value);
    if (!is_drawn) continue;
    line.has_times = line.has_times && days_of(point.time).has_value();
    line.points.push_back({&point, days_of(point.time).value_or(0), interval_of(history, point)});
  }
  if (line.has_times) {
    std::ranges::stable_sort(line.points, {}, &Placed::at);
    return line;
  }
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    line.points[i].at = static_cast<double>(i);
  }
  return line;
}

std::string words_of(const History& history, double value) {
  return history.is_ratio ? figures::change(value) : figures::value(history.metric, value);
}

std::string interval_words_of(const History& history, const std::optional<Interval>& interval) {
  if (!interval) return "";
  if (history.is_ratio) return interval_cell(interval);
  return "[" + figures::value(history.metric, interval->low) + ", " +
         figures::value(history.metric, interval->high) + "]";
}

std::string summary(const History& history, const Line& line) {
  if (line.points.empty()) return "Nothing has been measured.";
  const auto& last = line.points.back();
  std::vector<double> values;
  for (const auto& each : line.points) values.push_back(each.point->value);
  const auto [least, greatest] = std::ranges::minmax(values);
  auto text = fmt::format(
      "{}, {}. Newest: {} with {}", figures::count(values.size() + history.left_out, "point"),
      direction(history.metric), words_of(history, last.point->value), one_line(last.point->build));
  if (last.interval) {
    text += fmt::format(", {} {}", interval_heading(history.confidence),
                        interval_words_of(history, last.interval));
  }
  if (values.size() == 1) return text + ".";
  return text +
         fmt::format("; all from {} to {}.", words_of(history, least), words_of(history, greatest));
}

std::string_view word_of(MarkKind kind) {
  switch (kind) {
    case MarkKind::build:
      return "build";
    case MarkKind::incident:
      return "incident";
    case MarkKind::environment:
      return "environment";
    case MarkKind::self_test:
      break;
  }
  return "self-test";
}

const DriftReference* reference_of(const History& history) {
  if (!history.drift || history.is_ratio || !std::isfinite(history.drift->value)) return nullptr;
  const bool has_place = !history.is_logarithmic || history.drift->value > 0;
  return has_place ? &*history.drift : nullptr;
}

std::string words_on_axis(const History& history, const Line& line) {
  std::string words;
  if (history.is_logarithmic) {
    words += " Equal factors are equal distances.";
    const auto without = history.points.size() - line.points.size();
    if (without > 0) {
      words += " " + figures::count(without, "point") + " not above 0 " +
               (without == 1 ? "has" : "have") + " no place here.";
    }
  }
  if (const auto* reference = reference_of(history)) {
    words += " D: drift reference, " + one_line(reference->build) + " with " +
             words_of(history, reference->value) + ".";
  }
  return words;
}

std::string left_out_words(const History& history) {
  const auto shown = history.points.size();
  return fmt::format(
      "Shown are {} of {}: the least and the greatest of each stretch, and "
      "everything that regressed or improved.",
      figures::grouped(static_cast<std::int64_t>(shown)),
      figures::count(shown + history.left_out, "point"));
}

}  // namespace torchwatch::drawing
