#include "torchwatch/nightly/solo.hpp"

#include <map>

#include "robust.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"

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
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto row, storage::BuildStore(workshop.database).get(build));
  TW_TRY(const auto tree, builds::inspect(row.folder));
  TW_TRY(const auto plan, plan_of_config(workshop));
  workshop.progress.began("preparing the runner of " + row.name);
  TW_TRY(auto kit, workshop.runners.kit_for(tree, workloads_of(plan), stop));
  const Subject subject{build, tree, std::move(kit)};
  TW_TRY(const auto night, nights.opened(storage::NightKind::compare, build, std::nullopt,
                                         workshop.clock.wall_now()));
  RunMaker maker(workshop, {storage::OwnerKind::night, night.id});
  storage::RunStore store(workshop.database);
  std::vector<SoloFigure> result;
  const int processes = static_cast<int>(plan.cells.size() * plan.passes.size()) * runs;
  int done = 0;
  for (const auto& cell : plan.cells) {
    for (const auto pass : plan.passes) {
      std::vector<MachineRun> made;
      for (int run = 0; run < runs; ++run) {
        workshop.progress.at(done++, processes, to_string(cell));
        const auto slot = "alone/" + std::string(to_string(pass)) + "/" + to_string(cell) + "/" +
                          std::to_string(run);
        TW_TRY(auto one, maker.make(slot, subject, plan, cell, pass, stop));
        made.push_back(std::move(one));
      }
      for (auto& figure : figures(cell, pass, made)) {
        if (runs == 1 && figure.target.metric == Metric::time && figure.status == RunStatus::ok) {
          TW_TRY(figure.spread, spread_within(store, made.front()));
        }
        result.push_back(std::move(figure));
      }
    }
  }
  TW_TRY_VOID(nights.advanced(night, storage::NightState::accepted, workshop.clock.wall_now(),
                              "measured alone: nothing to compare it with"));
  return result;
}

}  // namespace torchwatch::nightly
