#include <algorithm>
#include <cmath>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/profiles/pages.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using operators::Attribution;
using operators::Change;

/// The rows that are shown; the others come in one row, so that the columns add up.
constexpr std::size_t kShownOperators = 12;

html::Cell nanoseconds(std::int64_t ns) {
  return {figures::value(Metric::time, static_cast<double>(ns)), static_cast<double>(ns)};
}

html::Cell difference_of(double ns) {
  return {figures::difference(Metric::time, ns), ns};
}

html::Cell interval_of(const Change& change) {
  if (!std::isfinite(change.low_ns)) return {""};
  return {"[" + figures::difference(Metric::time, change.low_ns) + ", " +
          figures::difference(Metric::time, change.high_ns) + "]"};
}

/// "12", or "12 to 44".
html::Cell calls_of(const Change& change) {
  const auto before = figures::grouped(change.before.calls);
  if (change.before.calls == change.after.calls) return {before};
  return {before + " to " + figures::grouped(change.after.calls)};
}

html::Cell bytes_difference(std::int64_t before, std::int64_t after) {
  if (before == after) return {""};
  return {figures::difference(Metric::cpu_peak, static_cast<double>(after - before)),
          static_cast<double>(after - before)};
}

std::vector<html::Cell> row_of(const Change& change) {
  return {change.name,
          nanoseconds(change.before.self_ns),
          nanoseconds(change.after.self_ns),
          difference_of(change.difference_ns),
          interval_of(change),
          calls_of(change),
          bytes_difference(change.before.allocated_bytes, change.after.allocated_bytes),
          bytes_difference(change.before.kept_bytes, change.after.kept_bytes)};
}

/// What is not shown by itself, added up; without an interval.
Change sum_from(std::size_t first, const std::vector<Change>& changes) {
  Change sum{.name = figures::count(changes.size() - first, "other")};
  const auto add = [](OperatorFigures& to, const OperatorFigures& from) {
    to.calls += from.calls;
    to.self_ns += from.self_ns;
    to.allocated_bytes += from.allocated_bytes;
    to.kept_bytes += from.kept_bytes;
  };
  for (auto i = first; i < changes.size(); ++i) {
    add(sum.before, changes[i].before);
    add(sum.after, changes[i].after);
    sum.difference_ns += changes[i].difference_ns;
  }
  return sum;
}

/// What keeps bytes comes first, as its time is seldom the largest.
std::vector<Change> ordered(std::vector<Change> changes) {
  std::ranges::stable_partition(changes, [](const Change& change) {
    return change.after.kept_bytes > change.before.kept_bytes;
  });
  return changes;
}

html::Fragment table_of(const std::vector<Change>& changes) {
  const auto shown = std::min(changes.size(), kShownOperators);
  html::Rows rows;
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(changes[i]));
  if (shown < changes.size()) rows.push_back(row_of(sum_from(shown, changes)));
  return html::table({.columns = {{"operator", Cells::words},
                                  {"before", Cells::numbers},
                                  {"after", Cells::numbers},
                                  {"difference", Cells::numbers},
                                  {"99 % interval", Cells::numbers},
                                  {"calls", Cells::numbers},
                                  {"allocates more", Cells::numbers},
                                  {"keeps more", Cells::numbers}},
                      .rows = std::move(rows)});
}

/// How it was measured, and what that did to the iterations.
std::string manner_of(const Attribution& found) {
  const auto pairs = figures::count(static_cast<std::size_t>(found.pairs), "pair");
  return "Self times of an iteration, without what an operator calls, from " + pairs +
         " of runs; the intervals hold together. Watching them made an iteration take " +
         figures::value(Metric::time, found.watched_ns) + " in the place of " +
         figures::value(Metric::time, found.iteration_ns) +
         ". The verdict rests on runs that are not watched.";
}

}  // namespace

Result<html::Fragment> operators_section(const storage::IncidentRow& incident, const View& view) {
  TW_TRY(const auto found, operators::attribution_of(view.sources.database, incident));
  if (!found) return html::Fragment();
  return html::section("By operator",
                       html::paragraph(html::text(operators::text_with_benchmark(*found))) +
                           table_of(ordered(found->changes)) +
                           html::paragraph(html::text(manner_of(*found))),
                       "operators");
}

}  // namespace torchwatch::pages
