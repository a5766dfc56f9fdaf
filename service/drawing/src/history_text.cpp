#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "history_line.hpp"
#include "torchwatch/canvas/strip.hpp"
#include "torchwatch/canvas/svg.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::drawing {

std::string text_of(const History& history, int columns) {
  const int wide = bounded(columns);
  const auto line = line_of(history);
  std::string text = paragraph(history.title, wide) + paragraph(summary(history, line), wide);
  if (line.points.empty()) return text;
  if (history.left_out > 0) text += paragraph(left_out_words(history), wide);
  std::vector<double> values;
  for (const auto& each : line.points) {
    const double value = each.point->value;
    values.push_back(history.is_logarithmic ? std::log(value) : value);
  }
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
  const auto on_axis = words_on_axis(history, line);
  if (!on_axis.empty()) text += paragraph(std::string_view(on_axis).substr(1), wide);
  for (const auto& mark : history.marks) {
    if (mark.kind == MarkKind::build) continue;
    text += paragraph(
        fmt::format("{} {}: {}", shown_time(mark.time), word_of(mark.kind), mark.label), wide);
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
        {{minute_of(point.time), one_line(point.build), words_of(history, point.value),
          interval_words_of(history, interval), std::string(to_string(point.verdict)),
          figures::grouped(static_cast<std::int64_t>(point.runs))},
         {"point", fmt::format("{}", point.value),
          interval ? fmt::format("{} {}", interval->low, interval->high) : "", point.link}});
  }
  for (const auto& mark : history.marks) {
    const std::string word(word_of(mark.kind));
    rows.push_back({{minute_of(mark.time), word + ": " + one_line(mark.label), "", "", "", ""},
                    {word, "", "", mark.link}});
  }
  if (const auto* reference = reference_of(history)) {
    rows.push_back({{minute_of(reference->time), "drift: reference " + one_line(reference->build),
                     words_of(history, reference->value), "", "", ""},
                    {"drift", fmt::format("{}", reference->value), "", reference->link}});
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.cells.front(); });
  return rows;
}

}  // namespace

TableForScript table_for_script(const History& history) {
  TableForScript both;
  both.table.head = {"time, UTC",
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
