#include "operator_watch.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/operators/attribution.hpp"

namespace torchwatch::tracing {
namespace {

using comparison::Comparison;
using comparison::MachineRun;
using comparison::RunSlot;

// What waits behind a comparison, its search among it, waits for the watch: a minute or two at the
// small preset, but an hour where an iteration takes seconds.
constexpr std::size_t kWatchedMax = 5;
constexpr std::chrono::minutes kLongest{15};

/// How many pairs each benchmark is worth.
std::map<Benchmark, int> wanted_of(const Comparison& comparison,
                                   const std::vector<storage::IncidentRow>& incidents) {
  std::map<Benchmark, int> wanted;
  for (const auto& incident : incidents) {
    const auto benchmark = operators::watched_benchmark(incident);
    // A program of one's own states no operators.
    if (!benchmark || comparison.plan.stated.contains(benchmark->workload)) continue;
    if (!wanted.contains(*benchmark) && wanted.size() == kWatchedMax) continue;
    auto& pairs = wanted[*benchmark];
    pairs = std::max(pairs, operators::pairs_worth(incident));
  }
  return wanted;
}

bool has_slot(const std::vector<MachineRun>& runs, const std::string& slot) {
  return std::ranges::any_of(runs, [&](const MachineRun& run) { return run.row.slot == slot; });
}

/// Whether every last pair was made.
bool is_watched(const std::map<Benchmark, int>& wanted, const std::vector<MachineRun>& past) {
  return std::ranges::all_of(wanted, [&](const auto& each) {
    const auto& [benchmark, pairs] = each;
    return has_slot(past, operators::slot_of(benchmark, pairs - 1, "baseline")) &&
           has_slot(past, operators::slot_of(benchmark, pairs - 1, "candidate"));
  });
}

/// The pairs of one comparison's builds.
class Watch {
 public:
  Watch(comparison::Services& services, const Comparison& comparison,
        const comparison::ComparedBuilds& builds, comparison::RunRecorder& recorder,
        const std::vector<MachineRun>& past)
      : services_(services),
        plan_(comparison.plan),
        builds_(builds),
        recorder_(recorder),
        past_(past) {}

  /// Makes the pairs that a benchmark lacks. One that fails ends them, and so does the time when it
  /// is over; those that were made count.
  Status watch(const Benchmark& benchmark, int pairs, std::stop_token stop) {
    for (int number = 0; number < pairs; ++number) {
      auto slots = slots_of(benchmark, number);
      if (has_failed(slots)) return {};
      if (is_made(slots[0]) && is_made(slots[1])) continue;
      if (services_.clock.monotonic_now() - began_ >= kLongest) {
        services_.progress.log("the operators of " + to_string(benchmark) + " are watched in " +
                               std::to_string(number) + " of " +
                               figures::count(static_cast<std::size_t>(pairs), "pair") + ": the " +
                               std::to_string(kLongest.count()) +
                               " minutes for a comparison are over");
        return {};
      }
      TW_TRY(const auto runs, recorder_.run_block(slots, plan_, benchmark,
                                                  {.pass = Pass::profile,
                                                   .is_in_pairs = plan_.interleave,
                                                   .watches_operators = true},
                                                  stop));
      const auto failed = std::ranges::find_if(
          runs, [](const auto& run) { return run.row.status != RunStatus::ok; });
      if (failed == runs.end()) continue;
      services_.progress.log("the operators of " + to_string(benchmark) +
                             " are not watched: " + failed->row.reason);
      return {};
    }
    return {};
  }

 private:
  /// The builds begin in turn.
  std::vector<RunSlot> slots_of(const Benchmark& benchmark, int number) const {
    std::vector<RunSlot> slots{
        {operators::slot_of(benchmark, number, "baseline"), builds_.baseline, true},
        {operators::slot_of(benchmark, number, "candidate"), builds_.candidate}};
    if (number % 2 == 0) return slots;
    return {slots[1], slots[0]};
  }

  bool is_made(const RunSlot& slot) const { return has_slot(past_, slot.slot); }
  bool has_failed(const std::vector<RunSlot>& slots) const {
    return std::ranges::any_of(past_, [&](const MachineRun& run) {
      const bool is_one = run.row.slot == slots[0].slot || run.row.slot == slots[1].slot;
      return is_one && run.row.status != RunStatus::ok;
    });
  }

  comparison::Services& services_;
  const comparison::Plan& plan_;
  const comparison::ComparedBuilds& builds_;
  comparison::RunRecorder& recorder_;
  const std::vector<MachineRun>& past_;
  const std::chrono::nanoseconds began_ = services_.clock.monotonic_now();
};

}  // namespace

Status watch_operators(comparison::Services& services, const Comparison& comparison,
                       const std::vector<storage::IncidentRow>& incidents, std::stop_token stop) {
  const auto wanted = wanted_of(comparison, incidents);
  if (wanted.empty()) return {};
  comparison::RunRecorder recorder(services, {storage::OwnerKind::comparison, comparison.row.id});
  TW_TRY_VOID(recorder.free_slots());
  TW_TRY(const auto past, recorder.past_runs());
  if (is_watched(wanted, past)) return {};
  TW_TRY(const auto builds, comparison::ComparedBuilds::prepare(services, comparison, stop));
  Watch watch(services, comparison, builds, recorder, past);
  for (const auto& [benchmark, pairs] : wanted) {
    services.progress.phase_started("watching the operators of " + to_string(benchmark));
    if (const auto watched = watch.watch(benchmark, pairs, stop); !watched) {
      TW_TRY_VOID(recorder.free_slots());
      return watched;
    }
  }
  return {};
}

}  // namespace torchwatch::tracing
