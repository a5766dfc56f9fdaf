#include "judging.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "measuring.hpp"
#include "newly_silent.hpp"
#include "recovery.hpp"
#include "reporting.hpp"
#include "search_opening.hpp"
#include "stable_hash.hpp"
#include "torchwatch/detect/grouping.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/night_summary.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::IncidentRow;
using storage::NightRow;

double effect_of(const storage::VerdictRow& verdict) {
  return is_relative(verdict.target.metric) && verdict.ratio > 0
             ? std::log(verdict.ratio)
             : verdict.candidate_value - verdict.baseline_value;
}

storage::IncidentTargetRow incident_target(const storage::VerdictRow& verdict) {
  return {verdict.target,        verdict.ratio,          verdict.interval_low,
          verdict.interval_high, verdict.baseline_value, verdict.candidate_value};
}

/// From what changed, never from a date, so that the same change is known again.
std::string key_of(IncidentKind kind, const std::vector<storage::IncidentTargetRow>& targets) {
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(to_string(target.target));
  std::ranges::sort(names);
  std::string all;
  for (const auto& name : names) all += name + "\n";
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(stable_hash(all)));
  return std::string(to_string(kind)) + "-" + digits.data();
}

std::vector<IncidentRow> incidents_of(const NightRow& night, const std::vector<Finding>& findings) {
  std::vector<detect::Change> changes;
  std::vector<const Finding*> regressed;
  IncidentRow lost;
  lost.kind = IncidentKind::lost;
  for (const auto& finding : findings) {
    if (finding.lost) lost.targets.push_back(incident_target(finding.verdict));
    if (finding.verdict.verdict != Verdict::regressed) continue;
    changes.push_back({finding.verdict.target, effect_of(finding.verdict)});
    regressed.push_back(&finding);
  }
  std::vector<IncidentRow> incidents;
  for (const auto& group : detect::group(changes)) {
    IncidentRow incident;
    incident.kind = group.kind;
    for (const auto member : group.members) {
      incident.targets.push_back(incident_target(regressed[member]->verdict));
    }
    incidents.push_back(std::move(incident));
  }
  if (!lost.targets.empty()) incidents.push_back(std::move(lost));
  for (auto& incident : incidents) {
    incident.night = night.id;
    incident.key = key_of(incident.kind, incident.targets);
  }
  return incidents;
}

Status open_incident(Workshop& workshop, const NightRow& night, IncidentRow incident) {
  storage::IncidentStore store(workshop.database);
  TW_TRY(const auto known, store.find_open(incident.key));
  if (known) return queue_recurrence(workshop, night, *known);
  incident.opened_at = workshop.clock.wall_now();
  TW_TRY(incident.title, title_of(workshop, night, incident));
  TW_TRY(const auto opened, store.opened(incident));
  return open_search(workshop, night, opened);
}

/// Compared with the night whose candidate is this night's baseline.
Status add_newly_silent(Workshop& workshop, const NightRow& night, std::vector<Finding>& findings) {
  if (night.kind != storage::NightKind::nightly || !night.baseline) return {};
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto earlier, nights.nightly_of(*night.baseline));
  if (!earlier) return {};
  TW_TRY(const auto before, nights.verdicts_of(earlier->id));
  mark_newly_silent(before, findings);
  return {};
}

void note_false_alarms(Workshop& workshop, const std::vector<Finding>& findings) {
  for (const auto& [verdict, lost] : findings) {
    if (verdict.verdict != Verdict::regressed && verdict.verdict != Verdict::improved) continue;
    workshop.progress.note("false alarm: a build compared with itself is called " +
                           std::string(to_string(verdict.verdict)) + ", " +
                           to_string(verdict.target) + ": " + verdict.reason);
  }
}

}  // namespace

Result<NightRow> judge_night(Workshop& workshop, const NightRow& night) {
  TW_TRY(const auto comparison, replay(workshop, night));
  TW_TRY(const auto plan, parse_plan(night.plan_json));
  auto findings = comparison.findings();
  storage::NightStore nights(workshop.database);
  TW_TRY_VOID(add_newly_silent(workshop, night, findings));
  TW_TRY(const auto summary, summarise(workshop, night, plan, findings));
  NightRow judged;
  TW_TRY_VOID(workshop.database.transact([&]() -> Status {
    for (const auto& finding : findings) {
      auto verdict = finding.verdict;
      verdict.night = night.id;
      TW_TRY_VOID(nights.verdict_reached(verdict));
    }
    TW_TRY_VOID(nights.summarised(night.id, to_json(summary)));
    if (plan.finds_incidents) {
      for (auto& incident : incidents_of(night, findings)) {
        TW_TRY_VOID(open_incident(workshop, night, std::move(incident)));
      }
    }
    if (plan.rechecks != 0) {
      TW_TRY_VOID(conclude_recheck(workshop, night, plan.rechecks, findings));
    }
    TW_TRY(judged, nights.advanced(night, storage::NightState::judged, workshop.clock.wall_now()));
    return {};
  }));
  if (night.kind == storage::NightKind::self_test) note_false_alarms(workshop, findings);
  TW_TRY_VOID(doors::failpoint("nightly.after_verdict"));
  return judged;
}

}  // namespace torchwatch::nightly
