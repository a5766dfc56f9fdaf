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
    row.threshold = plot.has_verdicts ? row.threshold.value_or(plot.threshold) : 1;
    if (!plot.has_verdicts) row.verdict = Verdict::unchanged;
  }
  return rows;
}

/// The same with the mean, the last of them.
std::vector<ForestRow> drawn_rows(ForestPlot plot) {
  if (plot.mean && !drawable_rows(plot).empty()) plot.rows.push_back(*plot.mean);
  return drawable_rows(plot);
}

std::vector<double> thresholds_of(const std::vector<ForestRow>& rows) {
  std::vector<double> thresholds;
  for (const auto& row : rows) thresholds.push_back(*row.threshold);
  return thresholds;
}

double largest_threshold(const std::vector<ForestRow>& rows) {
  return std::ranges::max(thresholds_of(rows));
}

std::string summary(const ForestPlot& plot) {
  const auto rows = drawable_rows(plot);
  if (rows.empty()) return "No change has been measured.";
  const auto worst = std::ranges::max(rows, {}, &ForestRow::ratio);
  const auto best = std::ranges::min(rows, {}, &ForestRow::ratio);
  std::string text = fmt::format(
      "{}; {}. Largest: {} {}{}.",
      figures::count(rows.size(), plot.has_verdicts ? "change" : "difference"),
      direction(plot.metric), one_line(worst.label), change_words(worst.ratio, plot.metric),
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

/// What stands behind a row: "+12.3 % regressed"; without verdicts its interval instead.
std::string words_of(const ForestPlot& plot, const ForestRow& row) {
  const auto change = figures::change(row.ratio);
  if (plot.has_verdicts) return change + " " + std::string(to_string(row.verdict));
  return row.interval ? change + " " + figures::interval(row.interval->low, row.interval->high)
                      : change;
}

/// What a pointer reads of a row.
std::string hint_of(const ForestPlot& plot, const ForestRow& row) {
  const auto text = one_line(row.label) + ": " + words_of(plot, row);
  return plot.has_verdicts ? text + " " + interval_cell(row.interval) : text;
}

struct Places {
  double label = 0;  ///< its width
  double row = 0;    ///< height
  double line = 0;   ///< of the whiskers, below the row's beginning
};

/// No change and the threshold either way, beside a row's whiskers.
void draw_guides(Svg& svg, const ChangeScale& scale, double threshold, double top, double bottom) {
  svg.line(scale.at(1), top, scale.at(1), bottom, "zero");
  if (threshold == 1) return;
  svg.line(scale.at(threshold), top, scale.at(threshold), bottom, "threshold");
  svg.line(scale.at(1 / threshold), top, scale.at(1 / threshold), bottom, "mark");
}

void draw_row(Svg& svg, const ForestPlot& plot, const ChangeScale& scale, const ForestRow& row,
              const Places& places) {
  const double top = svg.y();
  const double y = top + places.line;
  const double above = svg.is_narrow() ? 19 : 0;  // where the words stand
  draw_guides(svg, scale, *row.threshold, top + above, top + places.row);
  svg.open(hint_of(plot, row), row.link);
  svg.text(4, svg.is_narrow() ? top + 14 : y + 4, "", fitting(row.label, places.label - 8));
  if (row.interval) {
    const double low = scale.at(row.interval->low);
    const double high = scale.at(row.interval->high);
    svg.path(fmt::format("M{0} {2}v8M{1} {2}v8M{0} {3}H{1}", coordinate(low), coordinate(high),
                         coordinate(y - 4), coordinate(y)),
             "whisker");
  }
  draw_verdict(svg, scale.at(row.ratio), y, row.verdict);
  svg.text(svg.width() - 4, svg.is_narrow() ? top + 14 : y + 4, "in end", words_of(plot, row));
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

/// How a row is read, and what its signs mean.
std::string legend_of(const ForestPlot& plot, const std::vector<ForestRow>& rows) {
  const auto interval = interval_heading(plot.confidence);
  if (!plot.has_verdicts) return "Difference with its " + interval + "; nothing was judged by it.";
  return fmt::format(
      "Change with its {}; dashed: the threshold of {}. ▲ regressed, ▼ improved, ○ unchanged, □ "
      "inconclusive, × failed or unsupported.",
      interval, threshold_words(thresholds_of(rows)));
}

}  // namespace

std::string svg_of(const ForestPlot& plot) {
  const auto rows = drawn_rows(plot);
  Svg svg(plot.frame, plot.title, summary(plot));
  if (rows.empty()) return svg.finished();
  const double behind = plot.has_verdicts ? 140 : 165;  // the words behind a row
  const bool narrow = svg.is_narrow();
  const Places places =
      narrow ? Places{svg.width() - behind, 40, 27} : Places{svg.width() * 0.3, 24, 12};
  const ChangeScale scale(shown_ratios(rows), largest_threshold(rows), narrow ? 8 : places.label,
                          svg.width() - (narrow ? 8 : behind));
  svg.down(16);
  const double top = svg.y();
  const double bottom = top + places.row * static_cast<double>(rows.size()) + 4;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const double y = top + static_cast<double>(i) * places.row;
    svg.box(0, y, svg.width(), places.row, "cell");
  }
  draw_ticks(svg, scale, narrow ? bottom : top, bottom, narrow ? 4 : 7);
  if (plot.has_verdicts) name_thresholds(svg, scale, thresholds_of(rows), top - 7);
  for (const auto& row : rows) draw_row(svg, plot, scale, row, places);
  svg.down(36);
  svg.text(scale.at(1) - 8, svg.y(), "quiet end", "← " + std::string(word_down(plot.metric)));
  svg.text(scale.at(1) + 8, svg.y(), "quiet", std::string(word_up(plot.metric)) + " →");
  svg.notes(legend_of(plot, rows));
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
  if (*row.threshold != 1) cells[at(*row.threshold)] = ":";
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
  const auto rows = drawn_rows(plot);
  std::string text = paragraph(plot.title, wide) + paragraph(summary(plot), wide);
  if (rows.empty()) return text;
  std::size_t label = 0;
  std::size_t words = 0;
  for (const auto& row : rows) {
    label = std::max(label, characters_of(one_line(row.label)));
    words = std::max(words, characters_of(words_of(plot, row)));
  }
  const auto space = static_cast<std::size_t>(wide) - words - 2;
  label = std::min(label, space / 2);
  const auto drawn = space - label;
  const ChangeScale scale(shown_ratios(rows), largest_threshold(rows), 0,
                          static_cast<double>(drawn));
  for (const auto& row : rows) {
    text += padded(elided(one_line(row.label), label), label) + " " + whiskers(scale, row, drawn) +
            " " + words_of(plot, row) + "\n";
  }
  const auto signs = plot.has_verdicts ? "|: no change; ':': the threshold of " +
                                             threshold_words(thresholds_of(rows))
                                       : "|: no difference";
  return text +
         paragraph(signs + "; to the right " + std::string(word_up(plot.metric)) + ".", wide);
}

Table table_of(const ForestPlot& plot) {
  Table table{{"series", "change", interval_heading(plot.confidence), "verdict", "threshold"}, {}};
  if (!plot.has_verdicts) table.head = {"series", "difference", interval_heading(plot.confidence)};
  for (const auto& row : drawn_rows(plot)) {
    table.rows.push_back(
        {one_line(row.label), figures::change(row.ratio), interval_cell(row.interval)});
    if (!plot.has_verdicts) continue;
    table.rows.back().insert(table.rows.back().end(), {std::string(to_string(row.verdict)),
                                                       threshold_words(*row.threshold)});
  }
  return table;
}

}  // namespace torchwatch::drawing
