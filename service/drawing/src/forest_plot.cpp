#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "torchwatch/canvas/axis.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

std::vector<ForestRow> drawable_rows(const ForestPlot& plot) {
  auto rows = plot.rows;
  std::erase_if(rows, [](const auto& row) { return !drawable(row.ratio); });
  for (auto& row : rows) {
    row.interval = drawable(row.interval);
    row.threshold = row.threshold.value_or(plot.threshold);
  }
  return rows;
}

std::vector<double> thresholds_of(const std::vector<ForestRow>& rows) {
  std::vector<double> thresholds;
  for (const auto& row : rows) thresholds.push_back(*row.threshold);
  return thresholds;
}

double largest_threshold(const std::vector<ForestRow>& rows) {
  return std::ranges::max(thresholds_of(rows));
}

std::string summary(const ForestPlot& plot, const std::vector<ForestRow>& rows) {
  if (rows.empty()) return "No change has been measured.";
  const auto worst = std::ranges::max(rows, {}, &ForestRow::ratio);
  const auto best = std::ranges::min(rows, {}, &ForestRow::ratio);
  std::string text = fmt::format("{}; {}. Largest: {} {}{}.", figures::count(rows.size(), "change"),
                                 direction(plot.metric), one_line(worst.label),
                                 change_words(worst.ratio, plot.metric),
                                 interval_words(worst.interval, plot.confidence));
  if (best.ratio < worst.ratio) {
    text +=
        fmt::format(" Least: {} {}.", one_line(best.label), change_words(best.ratio, plot.metric));
  }
  return text;
}

std::vector<double> shown_ratios(const std::vector<ForestRow>& rows) {
  std::vector<double> ratios;
  for (const auto& row : rows) {
    ratios.push_back(row.ratio);
    if (row.interval) ratios.insert(ratios.end(), {row.interval->low, row.interval->high});
  }
  return ratios;
}

std::string words_of(const ForestRow& row) {
  return figures::change(row.ratio) + " " + std::string(to_string(row.verdict));
}

struct Places {
  double label = 0;  ///< its width
  double row = 0;    ///< height
  double line = 0;   ///< of the whiskers, below the row's beginning
};

/// No change and the threshold either way, beside a row's whiskers.
void draw_guides(Svg& svg, const ChangeScale& scale, double threshold, double top, double bottom) {
  svg.line(scale.at(1), top, scale.at(1), bottom, "zero");
  svg.line(scale.at(threshold), top, scale.at(threshold), bottom, "threshold");
  svg.line(scale.at(1 / threshold), top, scale.at(1 / threshold), bottom, "mark");
}

void draw_row(Svg& svg, const ChangeScale& scale, const ForestRow& row, const Places& places) {
  const double top = svg.y();
  const double y = top + places.line;
  const double above = svg.is_narrow() ? 19 : 0;  // where the words stand
  draw_guides(svg, scale, *row.threshold, top + above, top + places.row);
  svg.open(one_line(row.label) + ": " + words_of(row) + " " + interval_cell(row.interval),
           row.link);
  svg.text(4, svg.is_narrow() ? top + 14 : y + 4, "", fitting(row.label, places.label - 8));
  if (row.interval) {
    const double low = scale.at(row.interval->low);
    const double high = scale.at(row.interval->high);
    svg.path(fmt::format("M{0} {2}v8M{1} {2}v8M{0} {3}H{1}", coordinate(low), coordinate(high),
                         coordinate(y - 4), coordinate(y)),
             "whisker");
  }
  draw_verdict(svg, scale.at(row.ratio), y, row.verdict);
  svg.text(svg.width() - 4, svg.is_narrow() ? top + 14 : y + 4, "in end", words_of(row));
  svg.close();
  svg.down(places.row);
}

/// Names the thresholds where they are drawn, as far as there is space: the notes have all.
void name_thresholds(Svg& svg, const ChangeScale& scale, const std::vector<double>& thresholds,
                     double y) {
  double free_until = svg.width();
  for (const double threshold : each_once(thresholds)) {
    const auto words = threshold_words(threshold);
    const double half = units_of(words) / 2;
    if (scale.at(threshold) + half > free_until) continue;
    svg.text(scale.at(threshold), y, "quiet middle", words);
    free_until = scale.at(threshold) - half - 4;
  }
}

}  // namespace

std::string svg_of(const ForestPlot& plot) {
  const auto rows = drawable_rows(plot);
  Svg svg(plot.frame, plot.title, summary(plot, rows));
  if (rows.empty()) return svg.finished();
  constexpr double kVerdict = 140;
  const bool narrow = svg.is_narrow();
  const Places places =
      narrow ? Places{svg.width() - kVerdict, 40, 27} : Places{svg.width() * 0.3, 24, 12};
  const ChangeScale scale(shown_ratios(rows), largest_threshold(rows), narrow ? 8 : places.label,
                          svg.width() - (narrow ? 8 : kVerdict));
  svg.down(16);
  const double top = svg.y();
  const double bottom = top + places.row * static_cast<double>(rows.size()) + 4;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const double y = top + static_cast<double>(i) * places.row;
    svg.box(0, y, svg.width(), places.row, "cell");
  }
  draw_ticks(svg, scale, narrow ? bottom : top, bottom, narrow ? 4 : 7);
  name_thresholds(svg, scale, thresholds_of(rows), top - 7);
  for (const auto& row : rows) draw_row(svg, scale, row, places);
  svg.down(36);
  svg.text(scale.at(1) - 8, svg.y(), "quiet end", "← " + std::string(word_down(plot.metric)));
  svg.text(scale.at(1) + 8, svg.y(), "quiet", std::string(word_up(plot.metric)) + " →");
  svg.notes(
      fmt::format("Change with its {}; dashed: the threshold of {}. ▲ regressed, ▼ improved, "
                  "○ unchanged, □ inconclusive, × failed or unsupported.",
                  interval_heading(plot.confidence), threshold_words(thresholds_of(rows))));
  return svg.finished();
}

namespace {

std::string_view sign_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
      return "▲";
    case Verdict::improved:
      return "▼";
    case Verdict::unchanged:
      return "○";
    case Verdict::inconclusive:
      return "□";
    case Verdict::unsupported:
    case Verdict::failed:
      break;
  }
  return "×";
}

/// "·  │   ├──▲──┤": zero, threshold and interval in characters.
std::string whiskers(const ChangeScale& scale, const ForestRow& row, std::size_t columns) {
  std::vector<std::string_view> cells(columns, " ");
  const auto at = [&](double ratio) {
    return std::min(static_cast<std::size_t>(scale.at(ratio)), columns - 1);
  };
  cells[at(*row.threshold)] = ":";
  cells[at(1)] = "|";
  if (row.interval) {
    const auto low = at(row.interval->low);
    const auto high = at(row.interval->high);
    std::fill(cells.begin() + static_cast<std::ptrdiff_t>(low),
              cells.begin() + static_cast<std::ptrdiff_t>(high), "─");
    cells[low] = "├";
    cells[high] = "┤";
  }
  cells[at(row.ratio)] = sign_of(row.verdict);
  return fmt::format("{}", fmt::join(cells, ""));
}

}  // namespace

std::string text_of(const ForestPlot& plot, int columns) {
  const int wide = bounded(columns);
  const auto rows = drawable_rows(plot);
  std::string text = paragraph(plot.title, wide) + paragraph(summary(plot, rows), wide);
  if (rows.empty()) return text;
  std::size_t label = 0;
  std::size_t words = 0;
  for (const auto& row : rows) {
    label = std::max(label, characters_of(one_line(row.label)));
    words = std::max(words, characters_of(words_of(row)));
  }
  const auto space = static_cast<std::size_t>(wide) - words - 2;
  label = std::min(label, space / 2);
  const auto drawn = space - label;
  const ChangeScale scale(shown_ratios(rows), largest_threshold(rows), 0,
                          static_cast<double>(drawn));
  for (const auto& row : rows) {
    text += padded(elided(one_line(row.label), label), label) + " " + whiskers(scale, row, drawn) +
            " " + words_of(row) + "\n";
  }
  return text +
         paragraph("|: no change; ':': the threshold of " + threshold_words(thresholds_of(rows)) +
                       "; to the right " + std::string(word_up(plot.metric)) + ".",
                   wide);
}

Table table_of(const ForestPlot& plot) {
  Table table{{"series", "change", interval_heading(plot.confidence), "verdict", "threshold"}, {}};
  for (const auto& row : drawable_rows(plot)) {
    table.rows.push_back({one_line(row.label), figures::change(row.ratio),
                          interval_cell(row.interval), std::string(to_string(row.verdict)),
                          threshold_words(*row.threshold)});
  }
  return table;
}

}  // namespace torchwatch::drawing
