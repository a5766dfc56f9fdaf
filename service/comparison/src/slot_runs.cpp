#include "torchwatch/comparison/slot_runs.hpp"

#include <utility>

namespace torchwatch::comparison {
namespace {

/// Attempts of a run that fails before its slot counts as failed.
constexpr int kAttemptsPerSlot = 2;

}  // namespace

void SlotRuns::add(MachineRun run) {
  auto& slot = slots_[run.row.slot];
  ++slot.attempts;
  slot.run = std::move(run);
  const auto& row = slot.run.row;
  const bool is_measured_apart =
      slot.attempts > 1 && row.status != RunStatus::failed && row.pass == Pass::timing;
  if (is_measured_apart) ++measured_apart_[row.benchmark];
}

const MachineRun* SlotRuns::find(const std::string& name) const {
  const auto slot = slots_.find(name);
  return slot == slots_.end() ? nullptr : &slot->second.run;
}

bool SlotRuns::is_closed(const std::string& name) const {
  const auto slot = slots_.find(name);
  if (slot == slots_.end()) return false;
  const auto& [attempts, run] = slot->second;
  return run.row.status != RunStatus::failed || attempts >= kAttemptsPerSlot;
}

bool SlotRuns::pairs_are_in_vain(const Benchmark& benchmark) const {
  const auto runs = measured_apart_.find(benchmark);
  return runs != measured_apart_.end() && runs->second >= kRunsOfTwoPairs;
}

}  // namespace torchwatch::comparison
