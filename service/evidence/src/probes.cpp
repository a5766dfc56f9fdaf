#include <algorithm>
#include <map>
#include <set>

#include "drawn.hpp"
#include "measured_runs.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/bisection.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::evidence {
namespace {

using drawing::CommitState;
using drawing::ProbedCommit;
using report::TraceStep;
using Values = std::map<std::string, std::vector<double>>;  ///< by commit

/// Every sample of up to that many runs is read; of more each run's value, so a page stays quick.
constexpr std::size_t kRunsWithSamples = 400;

/// The first series of the search that was read; null before.
const Series* series_of(const std::vector<TraceStep>& steps) {
  const auto measured =
      std::ranges::find_if(steps, [](const TraceStep& step) { return !step.readings.empty(); });
  return measured == steps.end() ? nullptr : &measured->readings.front().series;
}

/// The commits that were tried, oldest first.
std::vector<ProbedCommit> tried(const Context& context, const storage::BisectionRow& row,
                                const std::vector<TraceStep>& steps) {
  std::map<std::size_t, ProbedCommit> by_place;
  for (const auto& step : steps) {
    if (!step.place || step.commit.empty()) continue;
    const bool is_broken = step.kind == bisection::EventKind::unbuildable;
    by_place[*step.place] = {.sha = step.commit,
                             .state = is_broken ? CommitState::unbuildable : CommitState::searched};
  }
  const auto result =
      bisection::parse_bisection_result(row.result_json).value_or(bisection::BisectionResult{});
  std::vector<ProbedCommit> commits{{.sha = row.good}};
  for (auto& [place, commit] : by_place) {
    commit.state = state_of(result, commit.sha, commit.state);
    commits.push_back(std::move(commit));
  }
  for (auto& commit : commits) commit.link = address_of(context.links.commit, commit.sha);
  return commits;
}

/// The samples of a run in the series; its value where it has no samples, or they were thinned.
Result<std::vector<double>> samples_of(const Context& context, const storage::RunDetail& run,
                                       Metric metric) {
  const auto kind = kind_of(metric);
  if (!kind.empty()) {
    TW_TRY(const auto sets, storage::RunReader(context.database).samples_of(run.attempt));
    const auto set = std::ranges::find(sets, kind, &storage::SampleSet::kind);
    if (set != sets.end() && !set->samples.empty()) {
      return std::vector<double>(set->samples.begin(), set->samples.end());
    }
  }
  return std::vector{static_cast<double>(run.values.at(metric))};
}

/// What the runs of a search have read of a series, by the commits of their builds.
Result<Values> values_of(const Context& context, storage::Id bisection, const Series& series) {
  TW_TRY(auto runs, measured_runs(context, {storage::OwnerKind::bisection, bisection},
                                  series.benchmark, pass_of(series.metric)));
  std::erase_if(runs, [&](const auto& run) { return !run.values.contains(series.metric); });
  std::map<storage::Id, std::string> commits;
  Values values;
  for (const auto& run : runs) {
    if (!commits.contains(run.build)) {
      TW_TRY(const auto build, storage::BuildStore(context.database).get(run.build));
      commits[run.build] =
          build.origin == storage::BuildOrigin::commit ? build.name : build.trunk_commit;
    }
    auto& of_commit = values[commits[run.build]];
    if (runs.size() > kRunsWithSamples) {
      of_commit.push_back(static_cast<double>(run.values.at(series.metric)));
      continue;
    }
    TW_TRY(const auto samples, samples_of(context, run, series.metric));
    of_commit.insert(of_commit.end(), samples.begin(), samples.end());
  }
  return values;
}

}  // namespace

Result<double> seconds_measured(const Context& context, const storage::BisectionRow& row,
                                const std::vector<TraceStep>& steps) {
  std::set<Benchmark> benchmarks;
  for (const auto& step : steps) {
    for (const auto& reading : step.readings) benchmarks.insert(reading.series.benchmark);
  }
  double seconds = 0;
  for (const auto& benchmark : benchmarks) {
    TW_TRY(const auto of_benchmark,
           storage::RunStore(context.database)
               .seconds_of({storage::OwnerKind::bisection, row.id}, benchmark));
    seconds += of_benchmark;
  }
  return seconds;
}

Result<drawing::ProbeStrips> probe_strips(const Context& context, const storage::BisectionRow& row,
                                          const std::vector<TraceStep>& steps) {
  drawing::ProbeStrips strips{.title = short_sha(row.good) + " to " + short_sha(row.bad)};
  const auto* series = series_of(steps);
  if (series == nullptr) return strips;
  strips.title = to_string(*series) + ", " + strips.title;
  strips.metric = series->metric;
  strips.commits = tried(context, row, steps);
  TW_TRY(auto values, values_of(context, row.id, *series));
  for (auto& commit : strips.commits) commit.values = std::move(values[commit.sha]);
  return strips;
}

}  // namespace torchwatch::evidence
