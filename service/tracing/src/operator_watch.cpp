#include "operator_watch.hpp"

#include <algorithm>
#include <map>

#include "operator_pairs.hpp"
#include "torchwatch/operators/attribution.hpp"

namespace torchwatch::tracing {
namespace {

using comparison::Comparison;

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

bool has_slot(const std::vector<comparison::MachineRun>& runs, const std::string& slot) {
  return std::ranges::any_of(runs, [&](const auto& run) { return run.row.slot == slot; });
}

/// Whether every last pair was made.
bool is_watched(const std::map<Benchmark, int>& wanted,
                const std::vector<comparison::MachineRun>& past) {
  return std::ranges::all_of(wanted, [&](const auto& each) {
    const auto& [benchmark, pairs] = each;
    return has_slot(past, operators::slot_of(benchmark, pairs - 1, "baseline")) &&
           has_slot(past, operators::slot_of(benchmark, pairs - 1, "candidate"));
  });
}

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
  OperatorPairs watch(services, comparison.plan, builds, recorder, past, kLongest);
  for (const auto& [benchmark, pairs] : wanted) {
    services.progress.phase_started("watching the operators of " + to_string(benchmark));
    if (const auto watched = watch.make(benchmark, pairs, stop); !watched) {
      TW_TRY_VOID(recorder.free_slots());
      return watched;
    }
  }
  return {};
}

}  // namespace torchwatch::tracing
