#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/nightly.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

/// The values of one that can be drawn, and what is said of them.
struct Past {
  std::vector<double> values;
  double least = 0;
  double middle = 0;
  double greatest = 0;
};

Past past_of(const SmallMultiple& one) {
  Past past;
  for (const auto& value : one.values) {
    if (value && std::isfinite(*value)) past.values.push_back(*value);
  }
  if (past.values.empty()) return past;
  auto sorted = past.values;
  std::ranges::sort(sorted);
  past.least = sorted.front();
  past.greatest = sorted.back();
  past.middle = sorted[(sorted.size() - 1) / 2];
  return past;
}

/// The value at which the threshold stands; nothing where the middle is 0, as that of a leak.
std::optional<double> threshold_at(const SmallMultiples& multiples, const SmallMultiple& one,
                                   const Past& past) {
  if (!(past.middle > 0)) return std::nullopt;
  return past.middle * one.threshold.value_or(multiples.threshold);
}

std::size_t nightlies_of(const SmallMultiples& multiples) {
  std::size_t most = 0;
  for (const auto& one : multiples.all) most = std::max(most, one.values.size());
  return most;
}

bool is_empty(const SmallMultiples& multiples) {
  return std::ranges::all_of(multiples.all,
                             [](const auto& one) { return past_of(one).values.empty(); });
}

std::string summary(const SmallMultiples& multiples) {
  if (is_empty(multiples)) return "Nothing has been measured.";
  const auto nightlies = nightlies_of(multiples);
  return fmt::format("{}, {} of {} {}, {}.", figures::count(multiples.all.size(), "model"),
                     figures::name_of(multiples.metric),
                     figures::grouped(static_cast<std::int64_t>(nightlies)),
                     nightlies == 1 ? "nightly" : "nightlies", direction(multiples.metric));
}

std::vector<double> thresholds_of(const SmallMultiples& multiples) {
  std::vector<double> thresholds;
  for (const auto& one : multiples.all) {
    thresholds.push_back(one.threshold.value_or(multiples.threshold));
  }
  return thresholds;
}

/// Where one of them is drawn.
struct Place {
  double left = 0;
  double top = 0;
  double width = 0;
};
constexpr double kHeight = 28;

/// A line through the values, broken where one is missing; in whole units, as many are on a page.
std::string curve_of(const SmallMultiple& one, const Scale& up, const Place& place) {
  const auto steps = static_cast<double>(std::max<std::size_t>(one.values.size(), 2) - 1);
  std::string curve;
  bool is_begun = false;
  long last_x = 0;
  long last_y = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    const auto& value = one.values[i];
    const bool is_drawn = value && std::isfinite(*value);
    if (is_drawn) {
      const long x = std::lround(place.left + static_cast<double>(i) / steps * place.width);
      const long y = std::lround(up.at(*value));
      curve +=
          is_begun ? fmt::format("l{} {}", x - last_x, y - last_y) : fmt::format("M{} {}", x, y);
      last_x = x;
      last_y = y;
    }
    is_begun = is_drawn;
  }
  return curve;
}

void draw_mark(Svg& svg, const SmallMultiple& one, const Scale& up, const Place& place) {
  if (one.values.empty() || !one.values.back() || !std::isfinite(*one.values.back())) return;
  draw_verdict(svg, place.left + place.width, up.at(*one.values.back()), one.verdict);
}

std::string hint_of(const SmallMultiples& multiples, const SmallMultiple& one, const Past& past) {
  if (past.values.empty()) return one.label + ": no value";
  const auto words = [&](double value) { return figures::value(multiples.metric, value); };
  return fmt::format("{}: {}, {}; from {} to {}", one.label, words(past.values.back()),
                     to_string(one.verdict), words(past.least), words(past.greatest));
}

void draw_one(Svg& svg, const SmallMultiples& multiples, const SmallMultiple& one,
              const Place& place) {
  const auto past = past_of(one);
  svg.open(hint_of(multiples, one, past), one.link);
  svg.text(place.left, place.top + 11, "", fitting(one.label, place.width));
  if (!past.values.empty()) {
    const double bottom = place.top + 18 + kHeight;
    const auto limit = threshold_at(multiples, one, past);
    const auto up = scale_over({past.least, past.greatest, limit.value_or(past.greatest)}, bottom,
                               bottom - kHeight);
    svg.line(place.left, bottom, place.left + place.width, bottom, "grid");
    if (limit) {
      svg.line(place.left, up.at(*limit), place.left + place.width, up.at(*limit), "threshold");
    }
    svg.path(curve_of(one, up, place), "curve baseline");
    draw_mark(svg, one, up, place);
  }
  svg.close();
}

/// How many columns the longest newest value takes.
std::size_t value_width_of(const SmallMultiples& multiples) {
  std::size_t widest = 0;
  for (const auto& one : multiples.all) {
    const auto past = past_of(one);
    if (past.values.empty()) continue;
    widest = std::max(widest, characters_of(figures::value(multiples.metric, past.values.back())));
  }
  return widest;
}

}  // namespace

std::string svg_of(const SmallMultiples& multiples) {
  Svg svg(multiples.frame, multiples.title, summary(multiples));
  if (is_empty(multiples)) return svg.finished();
  const std::size_t columns = svg.is_narrow() ? 2 : 4;
  constexpr double kGap = 16;
  constexpr double kStep = kHeight + 30;
  const double step = svg.width() / static_cast<double>(columns);
  svg.down(8);
  for (std::size_t i = 0; i < multiples.all.size(); ++i) {
    if (i > 0 && i % columns == 0) svg.down(kStep);
    const auto left = static_cast<double>(i % columns) * step;
    draw_one(svg, multiples, multiples.all[i], {left, svg.y(), step - kGap});
  }
  svg.down(kStep);
  svg.notes(fmt::format(
      "Up: {}, each on a scale of its own. Dashed: {} above the middle of its values. At the end: "
      "▲ regressed, ▼ improved, ○ unchanged, □ inconclusive.",
      figures::name_of(multiples.metric), threshold_words(thresholds_of(multiples))));
  return svg.finished();
}

std::string text_of(const SmallMultiples& multiples, int columns) {
  const int wide = bounded(columns);
  std::string text = paragraph(multiples.title, wide) + paragraph(summary(multiples), wide);
  if (is_empty(multiples)) return text;
  const std::size_t value = value_width_of(multiples);
  const auto all = static_cast<std::size_t>(wide);
  const std::size_t label = std::min<std::size_t>(28, all / 3);
  for (const auto& one : multiples.all) {
    const auto past = past_of(one);
    auto line = padded(elided(one_line(one.label), label - 1), label);
    if (!past.values.empty()) {
      const auto highest = std::max(past.greatest, threshold_at(multiples, one, past).value_or(0));
      const auto blocks = all - label - value - 3;
      line += padded(strip(thinned(past.values, blocks), past.least, highest), blocks) +
              right(figures::value(multiples.metric, past.values.back()), value + 1);
      const bool is_worse = one.verdict == Verdict::regressed;
      if (is_worse || one.verdict == Verdict::improved) line += is_worse ? " ▲" : " ▼";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + paragraph(fmt::format("A row is as high as {} at least. ▲ regressed, ▼ improved.",
                                      threshold_words(thresholds_of(multiples))),
                          wide);
}

Table table_of(const SmallMultiples& multiples) {
  Table table{{"model", "nightlies", "least", "middle", "greatest", "newest", "verdict"}, {}};
  for (const auto& one : multiples.all) {
    const auto past = past_of(one);
    const auto words = [&](double value) {
      return past.values.empty() ? "" : figures::value(multiples.metric, value);
    };
    table.rows.push_back({one_line(one.label),
                          figures::grouped(static_cast<std::int64_t>(past.values.size())),
                          words(past.least), words(past.middle), words(past.greatest),
                          past.values.empty() ? "" : words(past.values.back()),
                          std::string(to_string(one.verdict))});
  }
  return table;
}

}  // namespace torchwatch::drawing
