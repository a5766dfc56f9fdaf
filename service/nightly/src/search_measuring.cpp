#include "search_measuring.hpp"

#include <algorithm>
#include <cmath>

#include "robust.hpp"
#include "torchwatch/nightly/comparison.hpp"

namespace torchwatch::nightly {

Status SearchMeasuring::load_past_runs() {
  TW_TRY(auto runs, maker_.past_runs());
  for (const auto& run : runs) note(run);
  return {};
}

void SearchMeasuring::note(const MachineRun& run) {
  auto& past = past_[run.row.slot];
  ++past.attempts;
  past.run = run;
  if (run.row.status != RunStatus::ok) return;
  const auto& first = machines_.emplace(std::pair(run.row.cell, run.row.pass), run.machine).first;
  if (run.machine != first->second) machine_change_ = first_difference(first->second, run.machine);
}

std::vector<SearchMeasuring::Group> SearchMeasuring::groups(
    const std::vector<std::size_t>& targets) const {
  std::vector<Group> groups;
  for (const auto index : targets) {
    const auto& target = order_.targets.at(index).target;
    const auto pass = pass_of(target.metric);
    auto group = std::ranges::find_if(groups, [&](const Group& known) {
      return known.cell == target.cell && known.pass == pass;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{target.cell, pass, {}});
    group->targets.push_back(index);
  }
  return groups;
}

Result<MachineRun> SearchMeasuring::run(const RunPlace& place, const Group& group,
                                        std::stop_token stop) {
  const auto& past = past_[place.slot];
  while (past.attempts == 0 ||
         (past.run.row.status == RunStatus::failed && past.attempts < kAttemptsPerSlot)) {
    TW_TRY(const auto made, maker_.make(place, order_.plan, group.cell, group.pass, stop));
    note(made);
  }
  return past.run;
}

/// Once: what fails beside its partner is tried again alone, as is its partner.
Status SearchMeasuring::run_in_turns(const std::array<RunPlace, 2>& places, const Group& group,
                                     std::stop_token stop) {
  const bool is_begun = past_.contains(places[0].slot) || past_.contains(places[1].slot);
  if (is_begun || !takes_turns(order_.plan, group.cell, group.pass)) return {};
  TW_TRY(const auto made, maker_.make_in_turns(places, order_.plan, group.cell, stop));
  for (const auto& run : made) note(run);
  return {};
}

Result<std::array<MachineRun, 2>> SearchMeasuring::run_pair(const std::array<RunPlace, 2>& places,
                                                            const Group& group,
                                                            std::stop_token stop) {
  TW_TRY_VOID(run_in_turns(places, group, stop));
  TW_TRY(auto first, run(places[0], group, stop));
  TW_TRY(auto second, run(places[1], group, stop));
  return std::array{std::move(first), std::move(second)};
}

std::string SearchMeasuring::slot(const std::string& name, const Group& group, int number) const {
  return name + "/" + std::string(to_string(group.pass)) + "/" + to_string(group.cell) + "/" +
         std::to_string(number) + "/";
}

Result<double> SearchMeasuring::reading(const Group& group, const MachineRun& run,
                                        std::size_t target) const {
  const auto metric = order_.targets[target].target.metric;
  const auto found = run.row.values.find(metric);
  if (found == run.row.values.end()) {
    return fail(ErrorCode::internal, "a run of " + to_string(group.cell) + " carries no " +
                                         std::string(to_string(metric)));
  }
  const auto value = static_cast<double>(found->second);
  return is_relative(metric) ? std::log(value) : value;
}

Status SearchMeasuring::add_pair(const Group& group, const MachineRun& candidate,
                                 const MachineRun& reference, PairReadings& readings) const {
  if (candidate.machine != reference.machine) {
    return fail(ErrorCode::unavailable, "the environment changed during the search: " +
                                            first_difference(reference.machine, candidate.machine));
  }
  for (const auto index : group.targets) {
    TW_TRY(const double of_candidate, reading(group, candidate, index));
    TW_TRY(const double of_reference, reading(group, reference, index));
    readings.effects[index].push_back(of_candidate - of_reference);
    if (!takes_turns(order_.plan, group.cell, group.pass)) {
      readings.references[index].push_back(of_reference);
    }
  }
  return {};
}

Result<std::variant<PairReadings, SideFailed>> SearchMeasuring::measure(
    const std::string& name, Subject candidate, Subject reference,
    const std::vector<std::size_t>& targets, int pairs, std::stop_token stop) {
  TW_TRY_VOID(decide_placement(config_, candidate, reference));
  PairReadings readings;
  const auto all = groups(targets);
  for (int pair = 0; pair < pairs; ++pair) {
    progress_.at(pair, pairs, name);
    for (const auto& group : all) {
      const auto slot = this->slot(name, group, pair);
      const RunPlace ours{slot + "candidate", candidate};
      const RunPlace theirs{slot + "reference", reference};
      // Every other pair begins with the candidate, so that drift within a pair cancels.
      const bool reference_first = pair % 2 == 0;
      TW_TRY(const auto runs,
             run_pair(reference_first ? std::array{theirs, ours} : std::array{ours, theirs}, group,
                      stop));
      const auto& of_candidate = runs[reference_first ? 1 : 0];
      const auto& of_reference = runs[reference_first ? 0 : 1];
      if (of_reference.row.status != RunStatus::ok) {
        return SideFailed{false, group.targets, of_reference.row.reason};
      }
      if (of_candidate.row.status != RunStatus::ok) {
        return SideFailed{true, group.targets, of_candidate.row.reason};
      }
      TW_TRY_VOID(add_pair(group, of_candidate, of_reference, readings));
    }
  }
  return readings;
}

Result<std::variant<Readings, SideFailed>> SearchMeasuring::measure_alone(
    const std::string& name, Subject candidate, Subject partner,
    const std::vector<std::size_t>& targets, int runs, std::stop_token stop) {
  TW_TRY_VOID(decide_placement(config_, candidate, partner));
  Readings readings;
  const auto all = groups(targets);
  for (int number = 0; number < runs; ++number) {
    progress_.at(number, runs, name);
    for (const auto& group : all) {
      TW_TRY(const auto made, run({slot(name, group, number) + "alone", candidate}, group, stop));
      if (made.row.status != RunStatus::ok) {
        return SideFailed{true, group.targets, made.row.reason};
      }
      for (const auto index : group.targets) {
        TW_TRY(const double read, reading(group, made, index));
        readings[index].push_back(read);
      }
    }
  }
  return readings;
}

}  // namespace torchwatch::nightly
