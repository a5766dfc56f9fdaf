#include "solo_bench.hpp"

#include <algorithm>
#include <iterator>

#include "torchwatch/nightly/night.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::nightly {

Result<SoloBench> SoloBench::open(Workshop& workshop, storage::Id build, std::stop_token stop) {
  TW_TRY(const auto row, storage::BuildStore(workshop.database).get(build));
  TW_TRY(const auto tree, builds::inspect(row.folder));
  TW_TRY(auto plan, plan_of_config(workshop));
  workshop.progress.began("preparing the runner of " + row.name);
  TW_TRY(auto kit, workshop.runners.kit_for(tree, workloads_of(plan), stop));
  storage::NightStore nights(workshop.database);
  TW_TRY(auto night, nights.opened(storage::NightKind::compare, build, std::nullopt,
                                   workshop.clock.wall_now()));
  return SoloBench(workshop, std::move(plan), {build, tree, std::move(kit)}, std::move(night));
}

std::string SoloBench::next_slot(const Cell& cell, Pass pass, std::size_t number) {
  workshop_.progress.at(done_++, expected_, to_string(cell));
  return "alone/" + std::string(to_string(pass)) + "/" + to_string(cell) + "/" +
         std::to_string(number);
}

Result<std::vector<MachineRun>> SoloBench::run(const Cell& cell, Pass pass, int count,
                                               std::stop_token stop) {
  std::vector<MachineRun> runs;
  for (int run = 0; run < count; ++run) {
    const auto slot = next_slot(cell, pass, runs.size());
    TW_TRY(auto one, maker_.make({slot, subject_}, plan_, cell, pass, stop));
    runs.push_back(std::move(one));
  }
  return runs;
}

Result<std::vector<MachineRun>> SoloBench::run_pairs(const Cell& cell, int pairs,
                                                     std::stop_token stop) {
  if (!takes_turns(plan_, cell, Pass::timing)) return run(cell, Pass::timing, 2 * pairs, stop);
  std::vector<MachineRun> runs;
  for (int pair = 0; pair < pairs; ++pair) {
    const RunPlace first{next_slot(cell, Pass::timing, runs.size()), subject_};
    const RunPlace second{next_slot(cell, Pass::timing, runs.size() + 1), subject_};
    TW_TRY(auto both, maker_.make_in_turns({first, second}, plan_, cell, stop));
    std::ranges::move(both, std::back_inserter(runs));
  }
  return runs;
}

Status SoloBench::close() {
  storage::NightStore nights(workshop_.database);
  TW_TRY_VOID(nights.advanced(night_, storage::NightState::accepted, workshop_.clock.wall_now(),
                              "measured alone: nothing to compare it with"));
  return {};
}

}  // namespace torchwatch::nightly
