#include "torchwatch/drawing/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/strip.hpp"
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

/// Days since 1970 of "2026-11-20" or "2026-11-20T03:04:05Z".
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

std::string date_of(double days) {
  const std::chrono::year_month_day date(
      std::chrono::sys_days(std::chrono::days(std::llround(std::floor(days)))));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

/// A point at its place across, with an interval that can be drawn.
struct Placed {
  const HistoryPoint* point = nullptr;
  double at = 0;
  std::optional<Interval> interval;
};

struct Line {
  std::vector<Placed> points;
  bool has_times = true;  ///< else places are 0, 1, 2 ...
};

std::optional<Interval> interval_of(const History& history, const HistoryPoint& point) {
  if (history.is_ratio) return drawable(point.interval);
  if (!point.interval || !std::isfinite(point.interval->low) ||
      !std::isfinite(point.interval->high)) {
    return std::nullopt;
  }
  return point.interval;
}

Line line_of(const History& history) {
  Line line;
  for (const auto& point : history.points) {
    const bool is_drawn =
        history.is_ratio ? drawable(point.value).has_value() : std::isfinite(point.value);
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

/// The capital that its word begins with.
std::string letter_of(MarkKind kind) {
  return {static_cast<char>(word_of(kind).front() - 'a' + 'A')};
}

struct Axes {
  Scale across;
  Scale up;
  double top = 0;
  double bottom = 0;
};

Axes axes_of(const History& history, const Line& line, double left, double right, double top) {
  constexpr double kHeight = 210;
  std::vector<double> values;
  std::vector<double> places;
  for (const auto& each : line.points) {
    values.push_back(each.point->value);
    if (each.interval) values.insert(values.end(), {each.interval->low, each.interval->high});
    places.push_back(each.at);
  }
  if (history.is_ratio) values.insert(values.end(), {1.0, history.threshold});
  const auto [first, last] = std::ranges::minmax(places);
  const double margin = last > first ? 0 : 1;
  return {.across = {first - margin, last + margin, left + 8, right - 8},
          .up = scale_over(values, top + kHeight, top),
          .top = top,
          .bottom = top + kHeight};
}

/// The band of the intervals, broken where a point has none.
std::string band_of(const Line& line, const Axes& axes) {
  std::string band;
  for (std::size_t begin = 0; begin < line.points.size();) {
    std::string over;
    std::string under;
    std::size_t end = begin;
    for (; end < line.points.size() && line.points[end].interval; ++end) {
      const auto& each = line.points[end];
      const auto x = coordinate(axes.across.at(each.at));
      over += (end == begin ? "M" : "L") + x + " " + coordinate(axes.up.at(each.interval->high));
      under.insert(0, fmt::format("L{} {}", x, coordinate(axes.up.at(each.interval->low))));
    }
    if (end > begin + 1) band += over + under + "z";
    begin = end + 1;
  }
  return band;
}

/// Whether marks of neighbours would lie on one another.
bool is_dense(const Line& line, const Axes& axes) {
  constexpr double kUnitsOfAMark = 3;
  return static_cast<double>(line.points.size()) * kUnitsOfAMark >
         axes.across.end - axes.across.begin;
}

/// What of a dense line can be seen: the least and the greatest value of each unit across.
Line visible(const Line& line, const Axes& axes) {
  Line shown{.points = {}, .has_times = line.has_times};
  const auto unit = [&](const Placed& each) { return std::floor(axes.across.at(each.at)); };
  const auto value = [](const Placed& each) { return each.point->value; };
  for (auto begin = line.points.begin(); begin != line.points.end();) {
    const auto end = std::find_if(begin, line.points.end(),
                                  [&](const auto& each) { return unit(each) != unit(*begin); });
    auto [first, second] = std::ranges::minmax_element(begin, end, {}, value);
    if (second < first) std::swap(first, second);
    shown.points.push_back(*first);
    if (second != first) shown.points.push_back(*second);
    begin = end;
  }
  return shown;
}

void draw_points(Svg& svg, const History& history, const Line& whole, const Axes& axes) {
  const bool has_all_marks = !is_dense(whole, axes);
  const auto line = has_all_marks ? whole : visible(whole, axes);
  svg.path(band_of(line, axes), "band");
  std::string curve;
  std::string whiskers;
  for (const auto& each : line.points) {
    const auto x = coordinate(axes.across.at(each.at));
    curve += (curve.empty() ? "M" : "L") + x + " " + coordinate(axes.up.at(each.point->value));
    if (!each.interval || !has_all_marks) continue;
    whiskers += "M" + x + " " + coordinate(axes.up.at(each.interval->high)) + "V" +
                coordinate(axes.up.at(each.interval->low));
  }
  svg.path(whiskers, "curve candidate");
  svg.path(curve, "curve baseline");
  for (const auto& each : whole.points) {
    const auto& point = *each.point;
    if (!has_all_marks && point.verdict == Verdict::unchanged) continue;
    svg.open(fmt::format("{} {}: {} {} {}, {}", one_line(point.build), one_line(point.time),
                         words_of(history, point.value), interval_words_of(history, each.interval),
                         to_string(point.verdict), figures::count(point.runs, "run")),
             point.link);
    draw_verdict(svg, axes.across.at(each.at), axes.up.at(point.value), point.verdict);
    svg.close();
  }
}

void draw_values(Svg& svg, const History& history, const Axes& axes, double left) {
  // A ratio's round numbers are those of its change, which 1 less has.
  auto scale = axes.up;
  if (history.is_ratio) scale = {scale.low - 1, scale.high - 1, scale.begin, scale.end};
  for (const double tick : ticks(scale, 5, history.is_ratio ? Metric::time : history.metric)) {
    const double y = scale.at(tick);
    svg.line(left, y, svg.width(), y, "grid");
    svg.text(left - 6, y + 4, "quiet end", words_of(history, history.is_ratio ? tick + 1 : tick));
  }
  if (!history.is_ratio) return;
  svg.line(left, axes.up.at(1), svg.width(), axes.up.at(1), "zero");
  svg.line(left, axes.up.at(history.threshold), svg.width(), axes.up.at(history.threshold),
           "threshold");
}

/// Vertical lines with letters on top; a letter that would hide another is left out.
void draw_marks(Svg& svg, const History& history, const Line& line, const Axes& axes) {
  if (!line.has_times) return;
  double free_from = 0;
  for (const auto& mark : history.marks) {
    const auto days = days_of(mark.time);
    if (!days || !axes.across.holds(*days)) continue;
    const double x = axes.across.at(*days);
    svg.open(
        fmt::format("{} {}: {}", word_of(mark.kind), one_line(mark.time), one_line(mark.label)),
        mark.link);
    const bool is_small = mark.kind == MarkKind::build;
    svg.line(x, is_small ? axes.bottom - 6 : axes.top, x, axes.bottom, is_small ? "frame" : "mark");
    if (!is_small && x >= free_from) {
      svg.text(x, axes.top - 4, "bold middle", letter_of(mark.kind));
      free_from = x + 10;
    }
    svg.close();
  }
}

void draw_times(Svg& svg, const Line& line, const Axes& axes) {
  svg.line(axes.across.begin - 8, axes.bottom, svg.width(), axes.bottom, "frame");
  const auto& first = line.points.front();
  const auto& last = line.points.back();
  const double y = axes.bottom + 16;
  const auto name = [&](const Placed& placed) {
    return line.has_times ? date_of(placed.at) : fitting(placed.point->build, svg.width() / 3);
  };
  if (line.points.size() == 1) {
    svg.text((axes.across.begin + axes.across.end) / 2, y, "quiet middle", name(first));
    return;
  }
  svg.text(axes.across.begin, y, "quiet", name(first));
  if (line.has_times && !svg.is_narrow()) {
    svg.text((axes.across.begin + axes.across.end) / 2, y, "quiet middle",
             date_of((first.at + last.at) / 2));
  }
  svg.text(axes.across.end, y, "quiet end", name(last));
}

}  // namespace

std::string left_out_words(const History& history) {
  const auto shown = history.points.size();
  return fmt::format(
      "Shown are {} of {}: the least and the greatest of each stretch, and "
      "everything that regressed or improved.",
      figures::grouped(static_cast<std::int64_t>(shown)),
      figures::count(shown + history.left_out, "point"));
}

std::string svg_of(const History& history) {
  const auto line = line_of(history);
  Svg svg(history.frame, history.title, summary(history, line));
  if (line.points.empty()) return svg.finished();
  constexpr double kLeft = 76;
  svg.down(12);
  const auto axes = axes_of(history, line, kLeft, svg.width(), svg.y());
  draw_values(svg, history, axes, kLeft);
  draw_marks(svg, history, line, axes);
  draw_points(svg, history, line, axes);
  draw_times(svg, line, axes);
  svg.down(axes.bottom - axes.top + 20);
  auto notes = fmt::format(
      "Up: {}{} with its {} (band), {}. ▲ regressed, ▼ improved, ○ unchanged, □ inconclusive.",
      history.is_ratio ? "change of " : "", figures::name_of(history.metric),
      interval_heading(history.confidence), direction(history.metric));
  if (history.is_ratio) notes += " Dashed: " + threshold_words(history.threshold) + ".";
  if (!history.marks.empty()) {
    notes += " I: incident, E: environment change, S: self-test; short lines: builds.";
  }
  if (is_dense(line, axes)) notes += " Unchanged points are too many for marks.";
  if (history.left_out > 0) notes += " " + left_out_words(history);
  svg.notes(notes);
  return svg.finished();
}

std::string text_of(const History& history, int columns) {
  const int wide = bounded(columns);
  const auto line = line_of(history);
  std::string text = paragraph(history.title, wide) + paragraph(summary(history, line), wide);
  if (line.points.empty()) return text;
  if (history.left_out > 0) text += paragraph(left_out_words(history), wide);
  std::vector<double> values;
  for (const auto& each : line.points) values.push_back(each.point->value);
  const auto shown = thinned(values, static_cast<std::size_t>(wide));
  text += strip(shown) + "\n";
  const auto name = [&](const Placed& placed) {
    return line.has_times ? date_of(placed.at)
                          : fitting(placed.point->build, static_cast<double>(wide) * 2);
  };
  text += between(name(line.points.front()),
                  shown.size() > 24 ? name(line.points.back()) : " to " + name(line.points.back()),
                  shown.size()) +
          "\n";
  for (const auto& mark : history.marks) {
    if (mark.kind == MarkKind::build) continue;
    text += paragraph(fmt::format("{} {}: {}", mark.time, word_of(mark.kind), mark.label), wide);
  }
  return text;
}

namespace {

/// A row of the table, with what stands behind it.
struct Row {
  std::vector<std::string> cells;
  Behind behind;
};

std::vector<Row> rows_of(const History& history) {
  std::vector<Row> rows;
  for (const auto& each : line_of(history).points) {
    const auto& point = *each.point;
    const auto& interval = each.interval;
    rows.push_back(
        {{one_line(point.time), one_line(point.build), words_of(history, point.value),
          interval_words_of(history, interval), std::string(to_string(point.verdict)),
          figures::grouped(static_cast<std::int64_t>(point.runs))},
         {"point", fmt::format("{}", point.value),
          interval ? fmt::format("{} {}", interval->low, interval->high) : "", point.link}});
  }
  for (const auto& mark : history.marks) {
    const std::string word(word_of(mark.kind));
    rows.push_back({{one_line(mark.time), word + ": " + one_line(mark.label), "", "", "", ""},
                    {word, "", "", mark.link}});
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.cells.front(); });
  return rows;
}

}  // namespace

TableForScript table_for_script(const History& history) {
  TableForScript both;
  both.table.head = {"time",
                     "build or event",
                     history.is_ratio ? "change" : "value",
                     interval_heading(history.confidence),
                     "verdict",
                     "runs"};
  for (auto& row : rows_of(history)) {
    both.table.rows.push_back(std::move(row.cells));
    both.behind.push_back(std::move(row.behind));
  }
  return both;
}

Table table_of(const History& history) {
  return table_for_script(history).table;
}

}  // namespace torchwatch::drawing
