#include "pair_measuring.hpp"

#include <algorithm>
#include <cmath>

#include "robust.hpp"
#include "torchwatch/nightly/comparison.hpp"

namespace torchwatch::nightly {

Status PairMeasuring::load_past_runs() {
  TW_TRY(auto runs, maker_.past_runs());
  for (auto& run : runs) {
    auto& past = past_[run.row.slot];
    ++past.attempts;
    past.run = std::move(run);
  }
  return {};
}

std::vector<PairMeasuring::Group> PairMeasuring::groups(
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

Result<MachineRun> PairMeasuring::run(const std::string& slot, const Subject& subject,
                                      const Group& group, std::stop_token stop) {
  auto& past = past_[slot];
  while (past.attempts == 0 ||
         (past.run.row.status == RunStatus::failed && past.attempts < kAttemptsPerSlot)) {
    TW_TRY(past.run, maker_.make(slot, subject, order_.plan, group.cell, group.pass, stop));
    ++past.attempts;
  }
  return past.run;
}

Status PairMeasuring::add_effects(const Group& group, const MachineRun& candidate,
                                  const MachineRun& reference, PairEffects& effects) const {
  if (candidate.machine != reference.machine) {
    return fail(ErrorCode::unavailable, "the environment changed during the search: " +
                                            first_difference(reference.machine, candidate.machine));
  }
  for (const auto index : group.targets) {
    const auto metric = order_.targets[index].target.metric;
    const auto of_candidate = candidate.row.values.find(metric);
    const auto of_reference = reference.row.values.find(metric);
    if (of_candidate == candidate.row.values.end() || of_reference == reference.row.values.end()) {
      return fail(ErrorCode::internal, "a run of " + to_string(group.cell) + " carries no " +
                                           std::string(to_string(metric)));
    }
    const auto c = static_cast<double>(of_candidate->second);
    const auto r = static_cast<double>(of_reference->second);
    effects[index].push_back(is_relative(metric) ? std::log(c / r) : c - r);
  }
  return {};
}

Result<std::variant<PairEffects, SideFailed>> PairMeasuring::measure(
    const std::string& name, Subject candidate, Subject reference,
    const std::vector<std::size_t>& targets, int pairs, std::stop_token stop) {
  TW_TRY_VOID(decide_placement(config_, candidate, reference));
  PairEffects effects;
  const auto all = groups(targets);
  for (int pair = 0; pair < pairs; ++pair) {
    progress_.at(pair, pairs, name);
    for (const auto& group : all) {
      const auto slot = name + "/" + std::string(to_string(group.pass)) + "/" +
                        to_string(group.cell) + "/" + std::to_string(pair) + "/";
      // Every other pair begins with the candidate, so that drift within a pair cancels.
      const bool reference_first = pair % 2 == 0;
      MachineRun of_candidate;
      MachineRun of_reference;
      if (!reference_first) {
        TW_TRY(of_candidate, run(slot + "candidate", candidate, group, stop));
      }
      TW_TRY(of_reference, run(slot + "reference", reference, group, stop));
      if (reference_first) {
        TW_TRY(of_candidate, run(slot + "candidate", candidate, group, stop));
      }
      if (of_reference.row.status != RunStatus::ok) {
        return SideFailed{false, group.targets, of_reference.row.reason};
      }
      if (of_candidate.row.status != RunStatus::ok) {
        return SideFailed{true, group.targets, of_candidate.row.reason};
      }
      TW_TRY_VOID(add_effects(group, of_candidate, of_reference, effects));
    }
  }
  return effects;
}

}  // namespace torchwatch::nightly
