#include "torchwatch/measurement/measurement.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "build_measurer.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::measurement {
namespace {

/// Returns the relative spread of one run's iterations.
Result<double> spread_within(storage::RunStore& store, const comparison::MachineRun& run) {
  TW_TRY(const auto samples, store.samples_of(run.row.attempt));
  return relative_spread({samples.begin(), samples.end()});
}

std::vector<MeasuredFigure> figures(const Benchmark& benchmark, Pass pass,
                                    const std::vector<comparison::MachineRun>& runs) {
  std::map<Metric, std::vector<double>> values;
  for (const auto& run : runs) {
    if (run.row.status != RunStatus::ok) {
      const auto metric = pass == Pass::timing ? Metric::time : Metric::cpu_peak;
      return {{.series = {benchmark, metric},
               .runs = static_cast<int>(runs.size()),
               .status = run.row.status,
               .reason = run.row.reason}};
    }
    for (const auto& [metric, value] : run.row.values) {
      values[metric].push_back(static_cast<double>(value));
    }
  }
  std::vector<MeasuredFigure> result;
  for (const auto& [metric, list] : values) {
    result.push_back({.series = {benchmark, metric},
                      .value = median(list),
                      .spread = relative_spread(list),
                      .runs = static_cast<int>(list.size()),
                      .status = RunStatus::ok,
                      .reason = ""});
  }
  return result;
}

/// The plan's benchmarks, with the workload, once, in the place of its operators.
std::vector<Benchmark> whole_workloads_of(const comparison::Plan& plan) {
  std::vector<Benchmark> whole;
  for (const auto& benchmark : plan.benchmarks) {
    const auto one = whole_of(benchmark);
    if (std::ranges::find(whole, one) == whole.end()) whole.push_back(one);
  }
  return whole;
}

/// How many benchmarks and passes a plan measures.
int portions_of(const comparison::Plan& plan) {
  int count = 0;
  for (const auto& benchmark : plan.benchmarks) {
    for (const auto pass : plan.passes)
      count += comparison::has_pass(plan, benchmark, pass) ? 1 : 0;
  }
  return count;
}

}  // namespace

Result<std::vector<MeasuredFigure>> measure_build(comparison::Services& services, storage::Id build,
                                                  int runs, std::stop_token stop) {
  TW_TRY(auto measurer, BuildMeasurer::open(services, build, stop));
  const auto& plan = measurer.plan();
  measurer.expect(portions_of(plan) * runs);
  storage::RunStore store(services.database);
  std::vector<MeasuredFigure> result;
  for (const auto& benchmark : plan.benchmarks) {
    for (const auto pass : plan.passes) {
      if (!comparison::has_pass(plan, benchmark, pass)) continue;
      TW_TRY(const auto made, measurer.run(benchmark, pass, runs, stop));
      for (auto& figure : figures(benchmark, pass, made)) {
        if (runs == 1 && figure.series.metric == Metric::time && figure.status == RunStatus::ok) {
          TW_TRY(figure.spread, spread_within(store, made.front()));
        }
        result.push_back(std::move(figure));
      }
    }
  }
  TW_TRY_VOID(measurer.close());
  return result;
}

Result<std::vector<Observed>> observe_build(comparison::Services& services, storage::Id build,
                                            const comparison::Plan& plan, Pass pass,
                                            std::stop_token stop) {
  return observe_build(services, build, plan, whole_workloads_of(plan), pass, std::move(stop));
}

Result<std::vector<Observed>> observe_build(comparison::Services& services, storage::Id build,
                                            const comparison::Plan& plan,
                                            const std::vector<Benchmark>& benchmarks, Pass pass,
                                            std::stop_token stop) {
  TW_TRY(auto measurer, BuildMeasurer::open(services, build, plan, stop));
  measurer.expect(static_cast<int>(benchmarks.size()));
  storage::RunStore store(services.database);
  std::vector<Observed> all;
  for (const auto& benchmark : benchmarks) {
    TW_TRY(const auto made, measurer.run(benchmark, pass, 1, stop));
    const auto& row = made.front().row;
    auto& one = all.emplace_back(Observed{
        .benchmark = benchmark, .run = row.attempt, .status = row.status, .reason = row.reason});
    if (row.status != RunStatus::ok) continue;
    TW_TRY(auto result, store.result_of(row.attempt));
    one.reason = result.breakdown_reason;
    one.breakdown = result.breakdown;
    one.operators = std::move(result.operators);
  }
  TW_TRY_VOID(measurer.close());
  return all;
}

}  // namespace torchwatch::measurement
