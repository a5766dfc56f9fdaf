#include "operator_pairs.hpp"

#include <algorithm>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/operators/attribution.hpp"

namespace torchwatch::tracing {

using comparison::RunSlot;

OperatorPairs::OperatorPairs(comparison::Services& services, const comparison::Plan& plan,
                             const comparison::ComparedBuilds& builds,
                             comparison::RunRecorder& recorder,
                             const std::vector<comparison::MachineRun>& past,
                             std::optional<std::chrono::minutes> longest)
    : services_(services),
      plan_(plan),
      builds_(builds),
      recorder_(recorder),
      longest_(longest),
      began_(services.clock.monotonic_now()) {
  for (const auto& run : past) ended_[run.row.slot] = run.row.status;
}

bool OperatorPairs::has(const Benchmark& benchmark, int number) const {
  const auto is_made = [&](const char* side) {
    return ended_.contains(operators::slot_of(benchmark, number, side));
  };
  return is_made("baseline") && is_made("candidate");
}

Status OperatorPairs::make(const Benchmark& benchmark, int pairs, std::stop_token stop) {
  for (int number = 0; number < pairs; ++number) {
    const auto slots = slots_of(benchmark, number);
    const auto has_failed = [&](const RunSlot& slot) {
      const auto ended = ended_.find(slot.slot);
      return ended != ended_.end() && ended->second != RunStatus::ok;
    };
    if (std::ranges::any_of(slots, has_failed)) return {};
    if (has(benchmark, number)) continue;
    if (longest_ && services_.clock.monotonic_now() - began_ >= *longest_) {
      services_.progress.log(
          "the operators of " + to_string(benchmark) + " are watched in " + std::to_string(number) +
          " of " + figures::count(static_cast<std::size_t>(pairs), "pair") + ": the " +
          std::to_string(longest_->count()) + " minutes for a comparison are over");
      return {};
    }
    TW_TRY(const auto runs,
           recorder_.run_block(
               slots, plan_, benchmark,
               {.pass = Pass::profile, .is_in_pairs = plan_.interleave, .watches_operators = true},
               stop));
    for (const auto& run : runs) ended_[run.row.slot] = run.row.status;
    const auto failed =
        std::ranges::find_if(runs, [](const auto& run) { return run.row.status != RunStatus::ok; });
    if (failed == runs.end()) continue;
    services_.progress.log("the operators of " + to_string(benchmark) +
                           " are not watched: " + failed->row.reason);
    return {};
  }
  return {};
}

/// The builds begin in turn.
std::vector<RunSlot> OperatorPairs::slots_of(const Benchmark& benchmark, int number) const {
  std::vector<RunSlot> slots{
      {operators::slot_of(benchmark, number, "baseline"), builds_.baseline, true},
      {operators::slot_of(benchmark, number, "candidate"), builds_.candidate}};
  if (number % 2 == 0) return slots;
  return {slots[1], slots[0]};
}

}  // namespace torchwatch::tracing
