#include "reporting.hpp"

#include "creep.hpp"
#include "recovery.hpp"
#include "self_test.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/nightly/incident_facts.hpp"
#include "torchwatch/report/issue.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::IncidentRow;
using storage::NightRow;

storage::OutboxRow message(const IncidentRow& incident, storage::OutboxKind kind,
                           const std::string& key, std::string body) {
  storage::OutboxRow row;
  row.key = key;
  row.incident = incident.id;
  row.kind = kind;
  row.title = incident.title;
  row.body = std::move(body);
  return row;
}

Status queue_issue(Workshop& workshop, const NightRow& night, const IncidentRow& incident) {
  TW_TRY(auto facts, incident_facts(workshop, incident, night));
  facts.key = "open-" + incident.key + "-" + std::to_string(incident.id);
  auto row = message(incident, storage::OutboxKind::open, facts.key, report::issue_body(facts));
  row.title = report::incident_title(facts);
  return storage::IncidentStore(workshop.database).queued(row);
}

Status open_what_follows(Workshop& workshop, const NightRow& night) {
  TW_TRY(const auto plan, parse_plan(night.plan_json));
  TW_TRY_VOID(open_rechecks(workshop, night));
  TW_TRY_VOID(open_creep_comparisons(workshop, night));
  return open_self_test(workshop, night, plan);
}

/// What a night was for, where its kind does not say it.
std::string purpose_of(const NightRow& night) {
  const auto plan = parse_plan(night.plan_json);
  if (!plan) return {};
  if (plan->rechecks != 0) return "incident " + std::to_string(plan->rechecks) + " measured again";
  if (plan->nightlies_back == 0) return {};
  return "against the nightly " + std::to_string(plan->nightlies_back) + " before, measured again";
}

}  // namespace

Result<std::string> title_of(Workshop& workshop, const NightRow& night,
                             const IncidentRow& incident) {
  TW_TRY(const auto facts, incident_facts(workshop, incident, night));
  return report::incident_title(facts);
}

Status queue_recurrence(Workshop& workshop, const NightRow& night, const IncidentRow& incident) {
  TW_TRY(auto facts, incident_facts(workshop, incident, night));
  facts.key = "recurrence-" + incident.key + "-" + std::to_string(incident.id) + "-night-" +
              std::to_string(night.id);
  return storage::IncidentStore(workshop.database)
      .queued(message(incident, storage::OutboxKind::comment, facts.key,
                      report::recurrence_comment(facts)));
}

Status queue_recovery(Workshop& workshop, const NightRow& recheck, const IncidentRow& incident) {
  TW_TRY(auto facts, incident_facts(workshop, incident, recheck));
  facts.key = "recovery-" + incident.key + "-" + std::to_string(incident.id);
  return storage::IncidentStore(workshop.database)
      .queued(message(incident, storage::OutboxKind::close, facts.key,
                      report::recovery_comment(facts)));
}

Status queue_acceptance(Workshop& workshop, const IncidentRow& incident,
                        const storage::Acceptance& acceptance) {
  TW_TRY(const auto night, storage::NightStore(workshop.database).get(incident.night));
  TW_TRY(const auto facts, incident_facts(workshop, incident, night));
  return storage::IncidentStore(workshop.database)
      .queued(message(incident, storage::OutboxKind::close,
                      "acceptance-" + incident.key + "-" + std::to_string(incident.id),
                      report::acceptance_comment(facts, acceptance.by, acceptance.reason)));
}

Result<NightRow> report_night(Workshop& workshop, const NightRow& night) {
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto incidents, storage::IncidentStore(workshop.database).of_night(night.id));
  NightRow reported;
  TW_TRY_VOID(workshop.database.transact([&]() -> Status {
    for (const auto& incident : incidents) {
      TW_TRY_VOID(queue_issue(workshop, night, incident));
    }
    if (night.kind == storage::NightKind::nightly) TW_TRY_VOID(open_what_follows(workshop, night));
    TW_TRY(reported, nights.advanced(night, storage::NightState::reported,
                                     workshop.clock.wall_now(), purpose_of(night)));
    return {};
  }));
  TW_TRY_VOID(doors::failpoint("nightly.after_report"));
  return reported;
}

}  // namespace torchwatch::nightly
