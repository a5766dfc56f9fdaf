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
  // There is no other build to compare them with.
  plan.outputs = false;
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

Status BuildMeasurer::run_until(int count, const Benchmark& benchmark, Pass pass,
                                std::stop_token stop, std::vector<comparison::MachineRun>& runs) {
  while (std::ssize(runs) < count) {
    const auto slot = next_slot(benchmark, pass, runs.size());
    TW_TRY(auto one, recorder_.run({slot, build_}, plan_, benchmark, pass, stop));
    runs.push_back(std::move(one));
  }
  return {};
}

Result<std::vector<comparison::MachineRun>> BuildMeasurer::run(const Benchmark& benchmark,
                                                               Pass pass, int count,
                                                               std::stop_token stop) {
  std::vector<comparison::MachineRun> runs;
  TW_TRY_VOID(run_until(count, benchmark, pass, stop, runs));
  return runs;
}

Result<std::vector<comparison::MachineRun>> BuildMeasurer::run_pairs(const Benchmark& benchmark,
                                                                     int pairs,
                                                                     std::stop_token stop) {
  std::vector<comparison::MachineRun> runs;
  bool interleaves = comparison::is_interleaved(plan_, Pass::timing);
  while (interleaves && std::ssize(runs) < 2 * pairs) {
    const comparison::RunSlot first{next_slot(benchmark, Pass::timing, runs.size()), build_};
    const comparison::RunSlot second{next_slot(benchmark, Pass::timing, runs.size() + 1), build_};
    TW_TRY(auto both, recorder_.run_pair({first, second}, plan_, benchmark, stop));
    interleaves = std::ranges::none_of(
        both, [](const auto& run) { return run.row.status == RunStatus::failed; });
    if (interleaves) {
      std::ranges::move(both, std::back_inserter(runs));
    } else {
      done_ -= static_cast<int>(both.size());
    }
  }
  TW_TRY_VOID(run_until(2 * pairs, benchmark, Pass::timing, stop, runs));
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
