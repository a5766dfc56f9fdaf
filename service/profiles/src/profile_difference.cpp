#include <algorithm>
#include <cmath>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/profiles/pages.hpp"
#include "torchwatch/traces/self_times.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::pages {
namespace {

using html::Cells;
using storage::ProfileRun;
using traces::SelfTimeChange;

/// The rows that are shown; the others come in one row, so that the columns add up.
constexpr std::size_t kShown = 15;

/// The newest profile of a benchmark with a build whose trace is kept; nothing without one.
Result<std::optional<ProfileRun>> traced(const Benchmark& benchmark, storage::Id build,
                                         const View& view) {
  TW_TRY(const auto runs, storage::EvidenceReader(view.sources.database).profile_runs_of(build));
  const auto found = std::ranges::find_if(runs, [&](const ProfileRun& run) {
    return run.benchmark == benchmark &&
           traces::size_of(traces::file_of(view.sources.traces, run.token));
  });
  return found == runs.end() ? std::nullopt : std::optional(*found);
}

html::Cell time_cell(double microseconds) {
  constexpr double kNanoseconds = 1e3;
  return {figures::value(Metric::time, microseconds * kNanoseconds), microseconds};
}

std::string difference_text(double microseconds) {
  constexpr double kNanoseconds = 1e3;
  return figures::difference(Metric::time, microseconds * kNanoseconds);
}

html::Cell calls_cell(std::int64_t calls) {
  return {figures::grouped(calls), static_cast<double>(calls)};
}

std::vector<html::Cell> row_of(const SelfTimeChange& change) {
  return {change.name,
          time_cell(change.before.self_us),
          time_cell(change.after.self_us),
          {difference_text(change.difference_us()), change.difference_us()},
          calls_cell(change.before.calls),
          calls_cell(change.after.calls)};
}

/// What is not shown by itself, added up.
SelfTimeChange sum_from(std::size_t first, const std::vector<SelfTimeChange>& changes) {
  SelfTimeChange sum{
      .name = figures::count(changes.size() - first, "other"), .before = {}, .after = {}};
  for (auto i = first; i < changes.size(); ++i) {
    sum.before.calls += changes[i].before.calls;
    sum.before.self_us += changes[i].before.self_us;
    sum.after.calls += changes[i].after.calls;
    sum.after.self_us += changes[i].after.self_us;
  }
  return sum;
}

html::Fragment table_of(const std::vector<SelfTimeChange>& changes) {
  const auto shown = std::min(changes.size(), kShown);
  html::Rows rows;
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(changes[i]));
  if (shown < changes.size()) rows.push_back(row_of(sum_from(shown, changes)));
  return html::table({.columns = {{"operator or kernel", Cells::words},
                                  {"before", Cells::numbers},
                                  {"after", Cells::numbers},
                                  {"difference", Cells::numbers},
                                  {"calls before", Cells::numbers},
                                  {"calls after", Cells::numbers}},
                      .rows = std::move(rows)});
}

/// "aten::copy_ takes 1.2 ms more, of 1.4 ms that all take more together."
std::string sentence_on(const std::vector<SelfTimeChange>& changes) {
  const auto all = sum_from(0, changes).difference_us();
  const auto& largest = changes.front();
  return largest.name + " differs most, by " + difference_text(largest.difference_us()) +
         "; all together differ by " + difference_text(all) + ".";
}

}  // namespace

Result<html::Fragment> profile_difference(const Benchmark& benchmark, storage::Id before,
                                          storage::Id after, const View& view) {
  if (view.sources.traces.empty() || before == after) return html::Fragment();
  TW_TRY(const auto first, traced(benchmark, before, view));
  TW_TRY(const auto second, traced(benchmark, after, view));
  if (!first || !second) return html::Fragment();
  const auto read = [&view](const ProfileRun& run) {
    return view.sources.self_times->of(traces::file_of(view.sources.traces, run.token));
  };
  const auto times_before = read(*first);
  const auto times_after = read(*second);
  const auto links =
      html::paragraph(html::link(view.to_trace(first->run), "The trace before") +
                      html::text(" · ") + html::link(view.to_trace(second->run), "after") +
                      html::text(". One iteration of each, recorded, which slows it down; the "
                                 "verdict rests on runs that are not."));
  // A trace that cannot be added up keeps nobody from the page.
  if (!times_before || !times_after) {
    const auto& error = times_before ? times_after.error() : times_before.error();
    return html::section(
        "What takes longer",
        html::paragraph(html::text("The traces of " + to_string(benchmark) +
                                   " cannot be compared: " + error.message + ".")) +
            links,
        "profile");
  }
  const auto changes = traces::changes_between(**times_before, **times_after);
  if (changes.empty()) return html::Fragment();
  return html::section(
      "What takes longer",
      html::paragraph(html::text(to_string(benchmark) +
                                 ", by time without what is called: " + sentence_on(changes))) +
          table_of(changes) + links,
      "profile");
}

}  // namespace torchwatch::pages
