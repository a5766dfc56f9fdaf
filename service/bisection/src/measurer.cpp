#include "measurer.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/records/machine_facts.hpp"

namespace torchwatch::bisection {
namespace {

/// Follows in the name of a slot for each time that its pair was made anew.
constexpr const char* kAnew = "/anew";
/// So often a pair is made while the machine keeps changing; then the search waits.
constexpr int kPairsAnew = 3;

}  // namespace

Status BisectionMeasurer::free_slots() {
  return recorder_.free_slots();
}

Status BisectionMeasurer::load_past_runs() {
  TW_TRY_VOID(free_slots());
  TW_TRY(auto runs, recorder_.past_runs());
  for (const auto& run : runs) note(run);
  return {};
}

void BisectionMeasurer::note(const comparison::MachineRun& run) {
  runs_.add(run);
  if (run.row.status != RunStatus::ok) return;
  const auto& first =
      machines_.emplace(std::pair(run.row.benchmark, run.row.pass), run.machine).first;
  if (run.machine != first->second) machine_change_ = first_difference(first->second, run.machine);
}

std::vector<BisectionMeasurer::Group> BisectionMeasurer::groups(
    const std::vector<std::size_t>& all_series) const {
  std::vector<Group> groups;
  for (const auto index : all_series) {
    const auto& series = spec_.series.at(index).series;
    const auto pass = pass_of(series.metric);
    auto group = std::ranges::find_if(groups, [&](const Group& known) {
      return known.benchmark == series.benchmark && known.pass == pass;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), Group{series.benchmark, pass, {}});
    group->series.push_back(index);
  }
  return groups;
}

Result<comparison::MachineRun> BisectionMeasurer::run(const comparison::RunSlot& slot,
                                                      const Group& group, std::stop_token stop) {
  while (!runs_.is_closed(slot.slot)) {
    TW_TRY(const auto made, recorder_.run(slot, spec_.plan, group.benchmark, group.pass, stop));
    note(made);
  }
  return *runs_.find(slot.slot);
}

Status BisectionMeasurer::run_interleaved(const std::array<comparison::RunSlot, 2>& slots,
                                          const Group& group, std::stop_token stop) {
  const bool may_pair = runs_.may_pair(slots[0].slot, slots[1].slot, group.benchmark);
  if (!may_pair || !comparison::is_interleaved(spec_.plan, group.pass)) return {};
  TW_TRY(const auto made, recorder_.run_pair(slots, spec_.plan, group.benchmark, stop));
  for (const auto& run : made) note(run);
  return {};
}

Result<std::array<comparison::MachineRun, 2>> BisectionMeasurer::run_pair(
    const std::array<comparison::RunSlot, 2>& slots, const Group& group, std::stop_token stop) {
  TW_TRY_VOID(run_interleaved(slots, group, stop));
  TW_TRY(auto first, run(slots[0], group, stop));
  TW_TRY(auto second, run(slots[1], group, stop));
  return std::array{std::move(first), std::move(second)};
}

/// Makes a pair between whose runs the machine has changed anew, in slots of its own: stored runs
/// are not made again, so it would be the same pair for ever.
Result<std::array<comparison::MachineRun, 2>> BisectionMeasurer::run_pair_on_one_machine(
    std::array<comparison::RunSlot, 2> slots, const Group& group, std::stop_token stop) {
  for (int made = 0; made < kPairsAnew;) {
    const bool is_stored = runs_.is_begun(slots[0].slot) && runs_.is_begun(slots[1].slot);
    TW_TRY(auto runs, run_pair(slots, group, stop));
    const auto& [first, second] = runs;
    const bool is_read = first.row.status == RunStatus::ok && second.row.status == RunStatus::ok;
    if (!is_read || first.machine == second.machine) return runs;
    made += is_stored ? 0 : 1;
    for (auto& slot : slots) slot.slot += kAnew;
  }
  return fail(ErrorCode::unavailable,
              "the environment changed during the bisection: " + machine_change_);
}

std::string BisectionMeasurer::slot(const std::string& name, const Group& group, int number) const {
  return name + "/" + std::string(to_string(group.pass)) + "/" + to_string(group.benchmark) + "/" +
         std::to_string(number) + "/";
}

/// Why the run gives no readings, in words for people; nothing: it gives all that are searched.
std::optional<std::string> BisectionMeasurer::trouble(const Group& group,
                                                      const comparison::MachineRun& run) const {
  const auto& reason = run.row.reason;
  if (run.row.status != RunStatus::ok) return reason;
  for (const auto index : group.series) {
    const auto metric = spec_.series[index].series.metric;
    if (run.row.values.contains(metric)) continue;
    if (metric == Metric::output_difference && !reason.empty()) return reason;
    return to_string(group.benchmark) + " states no " + std::string(to_string(metric));
  }
  return {};
}

double BisectionMeasurer::reading(const comparison::MachineRun& run, std::size_t series) const {
  const auto metric = spec_.series[series].series.metric;
  const auto value = static_cast<double>(run.row.values.at(metric));
  return is_relative(metric) ? std::log(value) : value;
}

void BisectionMeasurer::add_pair(const Group& group, const comparison::MachineRun& candidate,
                                 const comparison::MachineRun& reference,
                                 PairReadings& readings) const {
  for (const auto index : group.series) {
    const double of_candidate = reading(candidate, index);
    const double of_reference = reading(reference, index);
    readings.effects[index].push_back(of_candidate - of_reference);
    if (!comparison::is_interleaved(spec_.plan, group.pass)) {
      readings.references[index].push_back(of_reference);
    }
  }
}

Result<std::variant<PairReadings, SideFailed>> BisectionMeasurer::measure_pairs(
    const std::string& name, comparison::MeasurableBuild candidate,
    comparison::MeasurableBuild reference, const std::vector<std::size_t>& all_series, int pairs,
    std::stop_token stop) {
  TW_TRY_VOID(comparison::decide_placement(config_, candidate, reference));
  PairReadings readings;
  const auto all = groups(all_series);
  for (int pair = 0; pair < pairs; ++pair) {
    progress_.progress(pair, pairs, "pairs of runs");
    for (const auto& group : all) {
      const auto slot = this->slot(name, group, pair);
      const comparison::RunSlot ours{slot + "candidate", candidate};
      // The search begins with its ends, of which the good one is the first reference.
      const comparison::RunSlot theirs{slot + "reference", reference, true};
      // Every other pair begins with the candidate, so that drift within a pair cancels.
      const bool reference_first = pair % 2 == 0;
      TW_TRY(const auto runs, run_pair_on_one_machine(reference_first ? std::array{theirs, ours}
                                                                      : std::array{ours, theirs},
                                                      group, stop));
      const auto& of_candidate = runs[reference_first ? 1 : 0];
      const auto& of_reference = runs[reference_first ? 0 : 1];
      if (auto reason = trouble(group, of_reference)) {
        return SideFailed{false, group.series, std::move(*reason)};
      }
      if (auto reason = trouble(group, of_candidate)) {
        return SideFailed{true, group.series, std::move(*reason)};
      }
      add_pair(group, of_candidate, of_reference, readings);
    }
  }
  return readings;
}

Result<std::variant<Readings, SideFailed>> BisectionMeasurer::measure_build(
    const std::string& name, comparison::MeasurableBuild candidate,
    comparison::MeasurableBuild partner, const std::vector<std::size_t>& all_series, int runs,
    std::stop_token stop) {
  TW_TRY_VOID(comparison::decide_placement(config_, candidate, partner));
  Readings readings;
  const auto all = groups(all_series);
  for (int number = 0; number < runs; ++number) {
    progress_.progress(number, runs, "runs");
    for (const auto& group : all) {
      TW_TRY(const auto made, run({slot(name, group, number) + "alone", candidate}, group, stop));
      if (auto reason = trouble(group, made)) {
        return SideFailed{true, group.series, std::move(*reason)};
      }
      for (const auto index : group.series) readings[index].push_back(reading(made, index));
    }
  }
  return readings;
}

}  // namespace torchwatch::bisection
