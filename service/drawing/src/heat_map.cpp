#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "torchwatch/canvas/svg.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/nightly.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

HeatCell cell_at(const HeatRow& row, std::size_t column) {
  return column < row.cells.size() ? row.cells[column] : HeatCell{};
}

/// The number with the verdict's sign, as it stands in a cell and in a text: "▲+12.3 %".
std::string words_of(const HeatCell& cell) {
  if (!cell.verdict) return "";
  const auto ratio = drawable(cell.ratio);
  const auto change = ratio ? figures::change(*ratio) : std::string();
  switch (*cell.verdict) {
    case Verdict::regressed:
      return "▲" + change;
    case Verdict::improved:
      return "▼" + change;
    case Verdict::unchanged:
      return change.empty() ? "○" : change;
    case Verdict::inconclusive:
      return "?" + change;
    case Verdict::unsupported:
      return "·";
    case Verdict::failed:
      return "×";
  }
  return "";
}

std::string table_cell(const HeatCell& cell) {
  if (!cell.verdict) return "";
  const auto ratio = drawable(cell.ratio);
  std::string text = ratio ? figures::change(*ratio) + " " : "";
  text += to_string(*cell.verdict);
  return cell.is_confirmed ? text + ", confirmed" : text;
}

/// The geometric mean of the ratios of a column, and how many they are.
struct Mean {
  std::string change;
  std::string count;
};

Mean mean_of(const HeatMap& map, std::size_t column) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& row : map.rows) {
    const auto ratio = drawable(cell_at(row, column).ratio);
    if (!ratio) continue;
    sum += std::log(*ratio);
    ++count;
  }
  if (count == 0) return {};
  return {figures::change(std::exp(sum / static_cast<double>(count))), fmt::format("{}", count)};
}

std::string summary(const HeatMap& map) {
  std::array<std::size_t, 6> counts{};
  std::size_t all = 0;
  for (const auto& row : map.rows) {
    for (std::size_t i = 0; i < map.configurations.size(); ++i) {
      const auto verdict = cell_at(row, i).verdict;
      if (!verdict) continue;
      ++counts[static_cast<std::size_t>(*verdict)];
      ++all;
    }
  }
  if (all == 0) return "Nothing has been measured.";
  std::string text = figures::count(map.rows.size(), "workload") + ", " +
                     std::string(figures::name_of(map.metric)) + ", " + direction(map.metric);
  char separator = ':';
  for (const auto verdict : {Verdict::regressed, Verdict::improved, Verdict::inconclusive,
                             Verdict::failed, Verdict::unsupported, Verdict::unchanged}) {
    const auto count = counts[static_cast<std::size_t>(verdict)];
    if (count == 0) continue;
    text += fmt::format("{} {} {}", separator, count, to_string(verdict));
    separator = ',';
  }
  return text + ".";
}

/// Those of what was judged.
std::vector<double> thresholds_of(const HeatMap& map) {
  std::vector<double> thresholds;
  for (const auto& row : map.rows) {
    for (const auto& cell : row.cells) {
      if (cell.verdict) thresholds.push_back(cell.threshold.value_or(map.threshold));
    }
  }
  return thresholds.empty() ? std::vector{map.threshold} : thresholds;
}

/// 1 to 3, by how the change compares with the threshold.
int level_of(double ratio, double threshold) {
  const double changes = std::abs(std::log(ratio)) / std::log(std::max(threshold, 1.0001));
  if (changes < 1) return 1;
  return changes < 2 ? 2 : 3;
}

/// The number in a cell, smaller where it would not fit, on a plate where stripes would cross it.
void draw_number(Svg& svg, const std::string& words, double x, double width, bool is_on_dark) {
  const double half = units_of(words) / 2;
  const bool is_small = 2 * half > width - 6;
  const double y = svg.y() + (is_small ? 14 : 15);
  if (words.starts_with('?')) svg.box(x + width / 2 - half, svg.y() + 4, 2 * half, 14, "paper");
  std::string classes = is_on_dark ? "on" : "";
  if (is_small) classes += is_on_dark ? " small" : "small";
  svg.label(x + width / 2, y, classes, words);
}

/// 0 where nothing changed; else as level_of.
int level_of(const HeatMap& map, const HeatCell& cell) {
  if (cell.verdict != Verdict::regressed && cell.verdict != Verdict::improved) return 0;
  const double threshold = cell.threshold.value_or(map.threshold);
  return level_of(drawable(cell.ratio).value_or(threshold), threshold);
}

std::string fill_of(const HeatCell& cell, int level) {
  if (level == 0) return "cell";
  return fmt::format("cell {}-{}", cell.verdict == Verdict::regressed ? "worse" : "better", level);
}

void draw_cell(Svg& svg, const HeatMap& map, const HeatCell& cell, const std::string& hint,
               double x, double width) {
  constexpr double kHeight = 20;
  constexpr int kDarkest = 3;
  const double y = svg.y() + 1;
  if (!cell.verdict) return;
  const int level = level_of(map, cell);
  svg.open(hint, cell.link);
  svg.box(x, y, width, kHeight, fill_of(cell, level));
  if (*cell.verdict == Verdict::inconclusive) svg.hatched(x, y, width, kHeight);
  if (*cell.verdict == Verdict::failed) svg.path(cross(x + width / 2, y + 10, 4), "broken");
  if (*cell.verdict == Verdict::unsupported) {
    svg.path(circle(x + width / 2, y + 10, 1), "broken");
  }
  if (cell.is_confirmed) svg.box(x + 1, y + 1, width - 2, kHeight - 2, "ring");
  if (drawable(cell.ratio)) draw_number(svg, words_of(cell), x, width, level == kDarkest);
  svg.close();
}

/// Names stand before the cells; in a narrow drawing they would stand under them, so each has a
/// line of its own.
double left_of_cells(const Svg& svg) {
  return svg.is_narrow() ? 0 : svg.width() * 0.28;
}

void draw_row(Svg& svg, const HeatMap& map, const HeatRow& row, double left, double step) {
  const double space = svg.is_narrow() ? svg.width() : left - 8;
  svg.open("", row.link);
  svg.text(svg.is_narrow() ? 0 : 4, svg.y() + 15, "", fitting(row.workload, space));
  svg.close();
  if (svg.is_narrow()) svg.down(20);
  for (std::size_t i = 0; i < map.configurations.size(); ++i) {
    const auto cell = cell_at(row, i);
    draw_cell(svg, map, cell, row.workload + " " + map.configurations[i] + ": " + table_cell(cell),
              left + static_cast<double>(i) * step, step - 2);
  }
  svg.down(svg.is_narrow() ? 26 : 22);
}

/// The configurations, in two lines where there is little space: "cpu" and "train".
void draw_head(Svg& svg, const HeatMap& map, double left, double step) {
  if (svg.is_narrow()) svg.down(14);
  for (std::size_t i = 0; i < map.configurations.size(); ++i) {
    const auto& name = map.configurations[i];
    const double x = left + (static_cast<double>(i) + 0.5) * step;
    const auto dash = name.find('-');
    if (!svg.is_narrow() || dash == std::string::npos) {
      svg.text(x, svg.y(), "bold middle", fitting_bold(name, step));
      continue;
    }
    svg.text(x, svg.y() - 14, "bold middle", fitting_bold(name.substr(0, dash), step));
    svg.text(x, svg.y(), "bold middle", fitting_bold(name.substr(dash + 1), step));
  }
  svg.down(4);
}

void draw_means(Svg& svg, const HeatMap& map, double left, double step) {
  svg.line(0, svg.y() + 3, svg.width(), svg.y() + 3, "frame");
  svg.down(18);
  if (svg.is_narrow()) {
    svg.text(0, svg.y(), "bold", "geometric mean, workloads");
    svg.down(18);
  } else {
    svg.text(4, svg.y(), "bold", "geometric mean");
    svg.text(4, svg.y() + 14, "quiet", "workloads");
  }
  for (std::size_t i = 0; i < map.configurations.size(); ++i) {
    const auto mean = mean_of(map, i);
    const double x = left + (static_cast<double>(i) + 0.5) * step;
    svg.text(x, svg.y(), "bold middle", fitting_bold(mean.change, step));
    svg.text(x, svg.y() + 14, "quiet middle", mean.count);
  }
  svg.down(20);
}

}  // namespace

std::string svg_of(const HeatMap& map) {
  Svg svg(map.frame, map.title, summary(map));
  if (map.rows.empty() || map.configurations.empty()) return svg.finished();
  const double left = left_of_cells(svg);
  const double step = (svg.width() - left) / static_cast<double>(map.configurations.size());
  svg.down(12);
  draw_head(svg, map, left, step);
  std::string domain;
  for (const auto& row : map.rows) {
    if (map.is_by_domain && row.domain != domain) {
      svg.down(20);
      svg.text(0, svg.y() - 4, "quiet bold", fitting(row.domain, svg.width()));
      domain = row.domain;
    }
    draw_row(svg, map, row, left, step);
  }
  draw_means(svg, map, left, step);
  svg.notes(
      fmt::format("▲ regressed, ▼ improved; full colour from twice the threshold of {} on; a "
                  "ring: confirmed on fresh data; striped with ?: inconclusive; ×: failed; "
                  "dot: unsupported; empty: not measured.",
                  threshold_words(thresholds_of(map))));
  return svg.finished();
}

std::string text_of(const HeatMap& map, int columns) {
  const int wide = bounded(columns);
  std::string text = paragraph(map.title, wide) + paragraph(summary(map), wide);
  if (map.rows.empty() || map.configurations.empty()) return text;
  const auto all = static_cast<std::size_t>(wide);
  const auto count = map.configurations.size();
  const std::size_t label = std::min<std::size_t>(28, all / 3);
  const std::size_t step = std::min<std::size_t>(14, (all - label) / count);
  const auto line = [&](const std::string& name, const auto& cell) {
    std::string row = padded(elided(one_line(name), label), label);
    for (std::size_t i = 0; i < count; ++i) {
      row += right(elided(one_line(cell(i)), step - std::min<std::size_t>(step, 1)), step);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  };
  line("", [&](std::size_t i) { return map.configurations[i]; });
  for (const auto& row : map.rows) {
    line(row.workload, [&](std::size_t i) {
      const auto cell = cell_at(row, i);
      return words_of(cell) + (cell.is_confirmed ? "!" : "");
    });
  }
  line("geometric mean", [&](std::size_t i) { return mean_of(map, i).change; });
  line("workloads", [&](std::size_t i) { return mean_of(map, i).count; });
  return text + paragraph(
                    "▲ regressed, ▼ improved, ! confirmed, ? inconclusive, × failed, "
                    "· unsupported; empty: not measured.",
                    wide);
}

Table table_of(const HeatMap& map) {
  Table table{{"workload", "domain"}, {}};
  std::vector<std::string> means{"geometric mean", ""};
  for (std::size_t i = 0; i < map.configurations.size(); ++i) {
    table.head.push_back(one_line(map.configurations[i]));
    const auto mean = mean_of(map, i);
    means.push_back(mean.count.empty() ? "" : mean.change + " of " + mean.count);
  }
  for (const auto& row : map.rows) {
    table.rows.push_back({one_line(row.workload), one_line(row.domain)});
    for (std::size_t i = 0; i < map.configurations.size(); ++i) {
      table.rows.back().push_back(table_cell(cell_at(row, i)));
    }
  }
  table.rows.push_back(std::move(means));
  return table;
}

}  // namespace torchwatch::drawing
