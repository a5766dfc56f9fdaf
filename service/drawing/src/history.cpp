#include "torchwatch/drawing/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "history_line.hpp"
#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

/// The capital that its word begins with.
std::string letter_of(MarkKind kind) {
  return {static_cast<char>(word_of(kind).front() - 'a' + 'A')};
}

/// The scale of values, or of their logarithms.
struct Upwards {
  Scale scale;
  bool is_logarithmic = false;

  double at(double value) const { return scale.at(is_logarithmic ? std::log(value) : value); }
};

struct Axes {
  Scale across;
  Upwards up;
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
  if (const auto* reference = reference_of(history)) values.push_back(reference->value);
  if (history.is_logarithmic) {
    for (auto& value : values) value = std::log(value);
  }
  const auto [first, last] = std::ranges::minmax(places);
  const double margin = last > first ? 0 : 1;
  return {.across = {first - margin, last + margin, left + 8, right - 8},
          .up = {scale_over(values, top + kHeight, top), history.is_logarithmic},
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
    svg.open(fmt::format("{} {}: {} {} {}, {}", one_line(point.build), shown_time(point.time),
                         words_of(history, point.value), interval_words_of(history, each.interval),
                         to_string(point.verdict), figures::count(point.runs, "run")),
             point.link);
    draw_verdict(svg, axes.across.at(each.at), axes.up.at(point.value), point.verdict);
    svg.close();
  }
}

/// Round values; a ratio's are those of its change, which 1 less has.
std::vector<double> ticks_of(const History& history, const Scale& scale) {
  constexpr std::size_t kMost = 5;
  if (history.is_logarithmic) return logarithmic_ticks(scale, kMost, history.metric);
  if (!history.is_ratio) return ticks(scale, kMost, history.metric);
  auto changes = ticks({scale.low - 1, scale.high - 1}, kMost, Metric::time);
  for (auto& change : changes) change += 1;
  return changes;
}

void draw_values(Svg& svg, const History& history, const Axes& axes, double left) {
  for (const double tick : ticks_of(history, axes.up.scale)) {
    const double y = axes.up.at(tick);
    svg.line(left, y, svg.width(), y, "grid");
    svg.text(left - 6, y + 4, "quiet end", words_of(history, tick));
  }
  if (!history.is_ratio) return;
  svg.line(left, axes.up.at(1), svg.width(), axes.up.at(1), "zero");
  svg.line(left, axes.up.at(history.threshold), svg.width(), axes.up.at(history.threshold),
           "threshold");
}

/// Above the points, which would hide its letter.
void draw_reference(Svg& svg, const History& history, const Axes& axes, double left) {
  const auto* reference = reference_of(history);
  if (reference == nullptr) return;
  const double y = axes.up.at(reference->value);
  svg.open(
      "drift reference: " + one_line(reference->build) + ", " + words_of(history, reference->value),
      reference->link);
  svg.line(left, y, svg.width(), y, "reference");
  svg.text(svg.width(), y - 4, "bold end halo", "D");
  svg.close();
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
        fmt::format("{} {}: {}", word_of(mark.kind), shown_time(mark.time), one_line(mark.label)),
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
  draw_reference(svg, history, axes, kLeft);
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
  notes += words_on_axis(history, line);
  if (is_dense(line, axes)) notes += " Unchanged points are too many for marks.";
  if (history.left_out > 0) notes += " " + left_out_words(history);
  svg.notes(notes);
  return svg.finished();
}

}  // namespace torchwatch::drawing
