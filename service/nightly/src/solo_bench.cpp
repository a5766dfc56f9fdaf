#include "solo_bench.hpp"

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

Result<std::vector<MachineRun>> SoloBench::run(const Cell& cell, Pass pass, int count,
                                               std::stop_token stop) {
  std::vector<MachineRun> runs;
  for (int run = 0; run < count; ++run) {
    workshop_.progress.at(done_++, expected_, to_string(cell));
    const auto slot =
        "alone/" + std::string(to_string(pass)) + "/" + to_string(cell) + "/" + std::to_string(run);
    TW_TRY(auto one, maker_.make(slot, subject_, plan_, cell, pass, stop));
    runs.push_back(std::move(one));
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
