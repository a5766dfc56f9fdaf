#include "build_measurer.hpp"

#include <algorithm>
#include <iterator>

#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::measurement {

Result<BuildMeasurer> BuildMeasurer::open(comparison::Services& services, storage::Id build,
                                          std::stop_token stop) {
  TW_TRY(auto plan, comparison::plan_of_config(services));
  return open(services, build, std::move(plan), std::move(stop));
}

Result<BuildMeasurer> BuildMeasurer::open(comparison::Services& services, storage::Id build,
                                          comparison::Plan plan, std::stop_token stop) {
  TW_TRY(const auto row, storage::BuildStore(services.database).get(build));
  TW_TRY(const auto tree, builds::inspect(row.folder));
  services.progress.long_step_started(comparison::LongStep::kit,
                                      "preparing the runner of " + row.name);
  TW_TRY(auto kit, services.runners.kit_for(tree, comparison::workloads_of(plan), stop));
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(auto comparison,
         comparisons.open({.purpose = storage::Purpose::measurement, .candidate = build},
                          services.clock.wall_now()));
  return BuildMeasurer(services, std::move(plan), {build, tree, std::move(kit)},
                       std::move(comparison));
}

std::string BuildMeasurer::next_slot(const Benchmark& benchmark, Pass pass, std::size_t number) {
  services_.progress.progress(done_++, expected_, to_string(benchmark));
  return "alone/" + std::string(to_string(pass)) + "/" + to_string(benchmark) + "/" +
         std::to_string(number);
}

Result<std::vector<comparison::MachineRun>> BuildMeasurer::run(const Benchmark& benchmark,
                                                               Pass pass, int count,
                                                               std::stop_token stop) {
  std::vector<comparison::MachineRun> runs;
  for (int run = 0; run < count; ++run) {
    const auto slot = next_slot(benchmark, pass, runs.size());
    TW_TRY(auto one, recorder_.run({slot, build_}, plan_, benchmark, pass, stop));
    runs.push_back(std::move(one));
  }
  return runs;
}

Result<std::vector<comparison::MachineRun>> BuildMeasurer::run_pairs(const Benchmark& benchmark,
                                                                     int pairs,
                                                                     std::stop_token stop) {
  if (!comparison::is_interleaved(plan_, Pass::timing))
    return run(benchmark, Pass::timing, 2 * pairs, stop);
  std::vector<comparison::MachineRun> runs;
  for (int pair = 0; pair < pairs; ++pair) {
    const comparison::RunSlot first{next_slot(benchmark, Pass::timing, runs.size()), build_};
    const comparison::RunSlot second{next_slot(benchmark, Pass::timing, runs.size() + 1), build_};
    TW_TRY(auto both, recorder_.run_pair({first, second}, plan_, benchmark, stop));
    std::ranges::move(both, std::back_inserter(runs));
  }
  return runs;
}

Status BuildMeasurer::close() {
  storage::ComparisonStore comparisons(services_.database);
  TW_TRY_VOID(comparisons.advance(comparison_, storage::ComparisonState::accepted,
                                  services_.clock.wall_now(),
                                  "one build measured: nothing to compare it with"));
  return {};
}

}  // namespace torchwatch::measurement
