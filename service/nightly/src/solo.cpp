#include "torchwatch/nightly/solo.hpp"

#include <map>

#include "robust.hpp"
#include "solo_bench.hpp"

namespace torchwatch::nightly {
namespace {

/// Of one run's iterations, where it has several.
Result<double> spread_within(storage::RunStore& store, const MachineRun& run) {
  TW_TRY(const auto samples, store.samples_of(run.row.attempt));
  return relative_spread({samples.begin(), samples.end()});
}

std::vector<SoloFigure> figures(const Cell& cell, Pass pass, const std::vector<MachineRun>& runs) {
  std::map<Metric, std::vector<double>> values;
  for (const auto& run : runs) {
    if (run.row.status != RunStatus::ok) {
      const auto metric = pass == Pass::timing ? Metric::time : Metric::cpu_peak;
      return {
          {{cell, metric}, 0, 0, static_cast<int>(runs.size()), run.row.status, run.row.reason}};
    }
    for (const auto& [metric, value] : run.row.values) {
      values[metric].push_back(static_cast<double>(value));
    }
  }
  std::vector<SoloFigure> result;
  for (const auto& [metric, list] : values) {
    result.push_back({{cell, metric},
                      median(list),
                      relative_spread(list),
                      static_cast<int>(list.size()),
                      RunStatus::ok,
                      ""});
  }
  return result;
}

}  // namespace

Result<std::vector<SoloFigure>> measure_alone(Workshop& workshop, storage::Id build, int runs,
                                              std::stop_token stop) {
  TW_TRY(auto bench, SoloBench::open(workshop, build, stop));
  const auto& plan = bench.plan();
  bench.expect(static_cast<int>(plan.cells.size() * plan.passes.size()) * runs);
  storage::RunStore store(workshop.database);
  std::vector<SoloFigure> result;
  for (const auto& cell : plan.cells) {
    for (const auto pass : plan.passes) {
      TW_TRY(const auto made, bench.run(cell, pass, runs, stop));
      for (auto& figure : figures(cell, pass, made)) {
        if (runs == 1 && figure.target.metric == Metric::time && figure.status == RunStatus::ok) {
          TW_TRY(figure.spread, spread_within(store, made.front()));
        }
        result.push_back(std::move(figure));
      }
    }
  }
  TW_TRY_VOID(bench.close());
  return result;
}

}  // namespace torchwatch::nightly
