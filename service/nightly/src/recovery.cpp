#include "recovery.hpp"

#include <algorithm>

#include "reporting.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::IncidentRow;
using storage::NightRow;

constexpr int kIncidentsMax = 1000;

/// Whether `night` has a newer candidate than `earlier`: by the commits' order where it is known,
/// as a nightly may arrive late.
Result<bool> is_newer(Workshop& workshop, const NightRow& night, const NightRow& earlier) {
  if (workshop.history == nullptr) return night.id > earlier.id;
  storage::BuildStore builds(workshop.database);
  TW_TRY(const auto candidate, builds.get(night.candidate));
  TW_TRY(const auto before, builds.get(earlier.candidate));
  const auto& branch = workshop.config.source.branch;
  const auto place = workshop.history->position(candidate.trunk_commit, branch);
  const auto place_before = workshop.history->position(before.trunk_commit, branch);
  if (!place || !place_before) return night.id > earlier.id;
  return *place > *place_before;
}

/// The night's own way of measuring, of what the incident is about alone.
Result<Plan> plan_of_recheck(const NightRow& night, const IncidentRow& incident) {
  TW_TRY(auto plan, parse_plan(night.plan_json));
  plan.cells.clear();
  plan.passes.clear();
  for (const auto& [target, ratio, low, high, baseline, candidate] : incident.targets) {
    if (std::ranges::find(plan.cells, target.cell) == plan.cells.end()) {
      plan.cells.push_back(target.cell);
    }
    const auto pass = pass_of(target.metric);
    if (std::ranges::find(plan.passes, pass) == plan.passes.end()) plan.passes.push_back(pass);
  }
  plan.finds_incidents = false;
  plan.rechecks = incident.id;
  return plan;
}

bool is_gone(const Target& target, const std::vector<Finding>& findings) {
  const auto found =
      std::ranges::find(findings, target, [](const Finding& each) { return each.verdict.target; });
  if (found == findings.end()) return false;
  const auto verdict = found->verdict.verdict;
  return verdict == Verdict::unchanged || verdict == Verdict::improved;
}

}  // namespace

Status open_rechecks(Workshop& workshop, const NightRow& night) {
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto incidents, storage::IncidentStore(workshop.database).list(kIncidentsMax));
  for (const auto& incident : incidents) {
    if (incident.state == storage::IncidentState::closed || incident.night == night.id) continue;
    TW_TRY(const auto found_by, nights.get(incident.night));
    TW_TRY(const bool newer, is_newer(workshop, night, found_by));
    if (!newer) continue;
    TW_TRY(const auto plan, plan_of_recheck(night, incident));
    TW_TRY(const auto recheck, nights.opened(storage::NightKind::compare, night.candidate,
                                             found_by.baseline, workshop.clock.wall_now()));
    TW_TRY_VOID(nights.planned(recheck, to_json(plan)));
  }
  return {};
}

Status conclude_recheck(Workshop& workshop, const NightRow& recheck, storage::Id id,
                        const std::vector<Finding>& findings) {
  storage::IncidentStore store(workshop.database);
  TW_TRY(const auto incident, store.get(id));
  const bool is_over = std::ranges::all_of(
      incident.targets, [&](const auto& each) { return is_gone(each.target, findings); });
  if (!is_over || incident.state == storage::IncidentState::closed) return {};
  TW_TRY_VOID(queue_recovery(workshop, recheck, incident));
  return store.closed(id, workshop.clock.wall_now());
}

}  // namespace torchwatch::nightly
