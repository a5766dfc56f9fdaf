#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/probes.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {
namespace {

constexpr std::size_t kShortSha = 12;
constexpr std::size_t kShortestSha = 7;
constexpr double kClipped = 0.01;  ///< of the values, at either end of the axis

/// A commit as it is drawn.
struct Column {
  const ProbedCommit* commit = nullptr;
  std::vector<double> values = {};  ///< sorted
  double median = 0;
  std::optional<double> ratio = {};       ///< of medians, to the left neighbour with values
  std::optional<double> difference = {};  ///< where there is no ratio
};

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::vector<Column> columns_of(const ProbeStrips& strips) {
  std::vector<Column> columns;
  std::optional<double> left;
  for (const auto& commit : strips.commits) {
    auto& column = columns.emplace_back(Column{&commit, finite(commit.values)});
    if (column.values.empty()) continue;
    std::ranges::sort(column.values);
    column.median = quantile(column.values, 0.5);
    if (left) {
      column.difference = column.median - *left;
      if (*left > 0 && column.median > 0) column.ratio = column.median / *left;
    }
    left = column.median;
  }
  return columns;
}

std::vector<double> all_values(const std::vector<Column>& columns) {
  std::vector<double> all;
  for (const auto& column : columns) {
    all.insert(all.end(), column.values.begin(), column.values.end());
  }
  std::ranges::sort(all);
  return all;
}

/// What the axis shows: the values without the outermost hundredth at either end, yet every median.
std::vector<double> shown_values(const std::vector<Column>& columns) {
  const auto all = all_values(columns);
  if (all.empty()) return {};
  std::vector<double> shown{quantile(all, kClipped), quantile(all, 1 - kClipped)};
  for (const auto& column : columns) {
    if (!column.values.empty()) shown.push_back(column.median);
  }
  return shown;
}

std::string short_sha(const ProbedCommit& commit, std::size_t digits = kShortSha) {
  return one_line(commit.sha.substr(0, digits));
}

std::string change_of(const Column& column, Metric metric) {
  if (column.ratio) return figures::change(*column.ratio);
  return column.difference ? figures::difference(metric, *column.difference) : "";
}

/// The word for what the search came to with a commit; empty: nothing.
std::string_view found_word(const Column& column, std::string_view culprit,
                            std::string_view suspect) {
  if (column.commit->state == CommitState::culprit) return culprit;
  return column.commit->state == CommitState::suspect ? suspect : "";
}

/// What the marks of these commits mean, each that occurs.
std::string legend_of(const std::vector<Column>& columns, const std::string& culprit,
                      const std::string& suspect) {
  const auto occurs = [&columns](CommitState state) {
    return std::ranges::any_of(
        columns, [state](const Column& column) { return column.commit->state == state; });
  };
  return (occurs(CommitState::culprit) ? " " + culprit + " culprit." : "") +
         (occurs(CommitState::suspect) ? " " + suspect + " possible culprit." : "");
}

std::string_view word_of(const Column& column) {
  if (column.commit->state == CommitState::unbuildable) return "does not build";
  return column.values.empty() ? "not measured" : "";
}

/// The column with the largest step up; nothing without one.
const Column* largest_step(const std::vector<Column>& columns) {
  const Column* largest = nullptr;
  for (const auto& column : columns) {
    if (column.difference.value_or(0) <= 0) continue;
    if (largest == nullptr || *column.difference > *largest->difference) largest = &column;
  }
  return largest;
}

std::string summary(const ProbeStrips& strips, const std::vector<Column>& columns) {
  const auto measured =
      std::ranges::count_if(columns, [](const auto& column) { return !column.values.empty(); });
  if (measured == 0) return "Nothing has been measured.";
  auto text = figures::count(static_cast<std::size_t>(measured), "commit") + " measured";
  if (const auto* largest = largest_step(columns)) {
    text += fmt::format("; the largest step up is that of {}, {}", short_sha(*largest->commit),
                        change_of(*largest, strips.metric));
  }
  return text + ".";
}

std::size_t outside(const std::vector<Column>& columns, const Scale& scale) {
  std::size_t count = 0;
  for (const auto& column : columns) {
    count += static_cast<std::size_t>(std::ranges::count_if(
        column.values, [&scale](double value) { return !scale.holds(value); }));
  }
  return count;
}

std::string outside_words(std::size_t count) {
  if (count == 0) return "";
  return " " + figures::count(count, "value") + (count == 1 ? " lies" : " lie") + " outside and " +
         (count == 1 ? "is" : "are") + " put at the nearer edge.";
}

/// How many of the values fall into each of equal parts of the scale, from its low end.
std::vector<double> histogram(const Column& column, const Scale& scale, std::size_t bins) {
  std::vector<double> counts(bins, 0);
  for (const double value : column.values) {
    const double share = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0);
    const auto bin = static_cast<std::size_t>(share * static_cast<double>(bins));
    ++counts[std::min(bin, bins - 1)];
  }
  return counts;
}

struct Panel {
  Scale scale;  ///< up is more
  double left = 0;
  double step = 0;
  double top = 0;
  double bottom = 0;
};

void draw_values(Svg& svg, const Panel& panel, const Column& column, double x) {
  constexpr std::size_t kBins = 26;
  const auto counts = histogram(column, panel.scale, kBins);
  const double most = std::max(std::ranges::max(counts), 1.0);
  const double height = (panel.bottom - panel.top) / static_cast<double>(kBins);
  const double wide = panel.step - 8;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double y = panel.bottom - static_cast<double>(bin + 1) * height;
    svg.box(x, y, wide * counts[bin] / most, std::max(height - 1, 0.8), "mass");
  }
  const double y = panel.scale.at(column.median);
  svg.line(x, y, x + wide, y, "zero");
}

void draw_column(Svg& svg, const Panel& panel, const Column& column, std::size_t place,
                 Metric metric) {
  const double x = panel.left + static_cast<double>(place) * panel.step;
  const auto word = word_of(column);
  const auto change = change_of(column, metric);
  const auto said =
      word.empty() ? fmt::format("{}, median {}{}", figures::count(column.values.size(), "value"),
                                 figures::value(metric, column.median),
                                 change.empty() ? "" : ", " + change + " to the left neighbour")
                   : std::string(word);
  svg.open(short_sha(*column.commit) + ": " + said, column.commit->link);
  const double height = panel.bottom - panel.top;
  svg.box(x, panel.top, panel.step - 8, height, "cell");
  if (column.commit->state == CommitState::unbuildable) {
    svg.hatched(x, panel.top, panel.step - 8, height);
  }
  if (!column.values.empty()) draw_values(svg, panel, column, x);
  const double middle = x + (panel.step - 8) / 2;
  const auto mark = found_word(column, "▲", "△");
  svg.text(middle, panel.bottom + 14, "code middle",
           std::string(mark) + short_sha(*column.commit, kShortestSha));
  svg.close();
  svg.text(middle, panel.bottom + 29, mark.empty() ? "middle" : "bold middle",
           column.commit->state == CommitState::unbuildable ? "×" : change);
}

void draw_axis(Svg& svg, const Panel& panel, double right, Metric metric) {
  constexpr std::size_t kTicks = 4;
  for (const double value : ticks(panel.scale, kTicks, metric)) {
    const double y = panel.scale.at(value);
    svg.line(panel.left, y, right, y, "grid");
    svg.text(panel.left - 6, y + 4, "quiet end", figures::value(metric, value));
  }
}

}  // namespace

std::string svg_of(const ProbeStrips& strips) {
  const auto columns = columns_of(strips);
  Svg svg(strips.frame, strips.title, summary(strips, columns));
  const auto shown = shown_values(columns);
  if (shown.empty()) return svg.finished();
  constexpr double kHeight = 150;
  constexpr double kStep = 66;  // a change and a short sha fit
  const double left = 84;
  const auto each_row = static_cast<std::size_t>((svg.width() - left) / kStep);
  auto scale = scale_over(shown, 0, 1);
  for (std::size_t from = 0; from < columns.size(); from += each_row) {
    const auto count = std::min(each_row, columns.size() - from);
    Panel panel{scale, left, kStep, svg.y() + 8, svg.y() + 8 + kHeight};
    panel.scale.begin = panel.bottom;
    panel.scale.end = panel.top;
    draw_axis(svg, panel, left + static_cast<double>(count) * kStep - 8, strips.metric);
    for (std::size_t i = 0; i < count; ++i) {
      draw_column(svg, panel, columns[from + i], i, strips.metric);
    }
    svg.down(kHeight + 46);
  }
  svg.notes(fmt::format(
      "Up: {}; {}. A column is a commit, oldest left: how many of its values lie where, and their "
      "median as a line. Below it the change of the median against its left neighbour, which the "
      "search itself reads in pairs. Striped: does not build.{}{}",
      figures::name_of(strips.metric), direction(strips.metric), legend_of(columns, "▲", "△"),
      outside_words(outside(columns, scale))));
  return svg.finished();
}

std::string text_of(const ProbeStrips& strips, int columns) {
  const int wide = bounded(columns);
  const auto all = columns_of(strips);
  std::string text = paragraph(strips.title, wide) + paragraph(summary(strips, all), wide);
  const auto shown = shown_values(all);
  if (shown.empty()) return text;
  constexpr std::size_t kChange = 9;
  constexpr std::size_t kValue = 11;
  const auto plot = static_cast<std::size_t>(wide) - kShortSha - kValue - kChange - 4;
  const auto scale = scale_over(shown, 0, static_cast<double>(plot));
  text += std::string(kShortSha + 2, ' ') +
          between(figures::value(strips.metric, scale.low),
                  figures::value(strips.metric, scale.high), plot) +
          "\n";
  for (const auto& column : all) {
    std::vector<std::int64_t> values;
    for (const double value : column.values) {
      values.push_back(std::llround(std::clamp(value, scale.low, scale.high)));
    }
    const auto mark = found_word(column, "^", "?");
    text += padded(short_sha(*column.commit), kShortSha) + (mark.empty() ? " " : std::string(mark));
    if (!word_of(column).empty()) {
      text += " " + std::string(word_of(column)) + "\n";
      continue;
    }
    text += "|" + distribution(values, scale.low, scale.high, plot) + "|" +
            right(figures::value(strips.metric, column.median), kValue) +
            right(change_of(column, strips.metric), kChange) + "\n";
  }
  return text + paragraph(
                    "Oldest commit on top; behind each strip its median and the change "
                    "against the commit above." +
                        legend_of(all, "^", "?") + outside_words(outside(all, scale)),
                    wide);
}

Table table_of(const ProbeStrips& strips) {
  const auto value = [&](double of) { return figures::value(strips.metric, of); };
  Table table{
      {"commit", "values", "median", "change to the left neighbour", "least", "greatest", "remark"},
      {}};
  for (const auto& column : columns_of(strips)) {
    const bool is_empty = column.values.empty();
    const auto found = found_word(column, "culprit", "possible culprit");
    table.rows.push_back({short_sha(*column.commit), figures::grouped(std::ssize(column.values)),
                          is_empty ? "" : value(column.median), change_of(column, strips.metric),
                          is_empty ? "" : value(column.values.front()),
                          is_empty ? "" : value(column.values.back()),
                          std::string(found.empty() ? word_of(column) : found)});
  }
  return table;
}

}  // namespace torchwatch::drawing
