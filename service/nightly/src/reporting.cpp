#include "reporting.hpp"

#include "follow_ups.hpp"
#include "torchwatch/nightly/incident_facts.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/report/issue.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::ComparisonRow;
using storage::IncidentRow;

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

Status queue_issue(comparison::Services& services, const ComparisonRow& comparison,
                   const IncidentRow& incident) {
  storage::IncidentStore store(services.database);
  TW_TRY(auto facts, incident_facts(services, incident, comparison));
  TW_TRY_VOID(add_history(services, comparison, facts));
  const std::string key = "open-" + incident.key + "-" + std::to_string(incident.id);
  facts.key = key + ":" + services.random.token();  // nobody else can write such a marker
  auto row = message(incident, storage::OutboxKind::open, key, report::issue_body(facts));
  row.title = report::incident_title(facts);
  TW_TRY_VOID(store.set_title(incident.id, row.title));
  return store.queue(row);
}

/// Queues a comment on an incident of an earlier comparison that is there again.
Status queue_recurrence(comparison::Services& services, const ComparisonRow& comparison,
                        const IncidentRow& incident) {
  TW_TRY(const auto facts, incident_facts(services, incident, comparison));
  const std::string key = "recurrence-" + incident.key + "-" + std::to_string(incident.id) +
                          "-comparison-" + std::to_string(comparison.id);
  return storage::IncidentStore(services.database)
      .queue(message(
          incident, storage::OutboxKind::comment, key,
          report::with_marker(report::recurrence_comment(facts), key, services.random.token())));
}

/// Queues the comment that closes the issue of an incident that is gone.
Status queue_recovery(comparison::Services& services, const ComparisonRow& recheck,
                      const IncidentRow& incident) {
  TW_TRY(const auto facts, incident_facts(services, incident, recheck));
  const std::string key = "recovery-" + incident.key + "-" + std::to_string(incident.id);
  return storage::IncidentStore(services.database)
      .queue(message(
          incident, storage::OutboxKind::close, key,
          report::with_marker(report::recovery_comment(facts), key, services.random.token())));
}

Status queue_messages(comparison::Services& services, const ComparisonRow& row) {
  storage::IncidentStore store(services.database);
  TW_TRY(const auto incidents, store.of_comparison(row.id));
  for (const auto& incident : incidents) TW_TRY_VOID(queue_issue(services, row, incident));
  TW_TRY(const auto found_again, store.found_again_by(row.id));
  for (const auto& incident : found_again) TW_TRY_VOID(queue_recurrence(services, row, incident));
  if (!row.incident) return {};
  TW_TRY(const auto gone, conclude_recheck(services, row));
  return gone ? queue_recovery(services, row, *gone) : Status{};
}

}  // namespace

Status queue_acceptance(comparison::Services& services, const IncidentRow& incident,
                        const storage::Acceptance& acceptance) {
  TW_TRY(const auto comparison,
         storage::ComparisonStore(services.database).get(incident.comparison));
  TW_TRY(const auto facts, incident_facts(services, incident, comparison));
  const std::string key = "acceptance-" + incident.key + "-" + std::to_string(incident.id);
  const auto text = report::acceptance_comment(facts, acceptance.by, acceptance.reason);
  return storage::IncidentStore(services.database)
      .queue(message(incident, storage::OutboxKind::close, key,
                     report::with_marker(text, key, services.random.token())));
}

Status require_name_and_reason(const std::string& by, const std::string& reason,
                               std::string_view what) {
  const auto is_blank = [](const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  };
  if (!is_blank(by) && !is_blank(reason)) return {};
  return fail(ErrorCode::invalid,
              std::string(what) + " needs the name of who makes it, and a reason");
}

Status queue_decision(comparison::Services& services, const IncidentRow& incident,
                      Decision decision, const std::string& by, const std::string& reason) {
  const bool is_dispute = decision == Decision::disputed;
  const auto now = std::to_string(services.clock.wall_now());
  const auto key = std::string(is_dispute ? "dispute-" : "reopened-") + incident.key + "-" +
                   std::to_string(incident.id) + "-" + now;
  return storage::IncidentStore(services.database)
      .queue(message(
          incident, storage::OutboxKind::comment, key,
          is_dispute ? report::dispute_comment(by, reason) : report::reopening_comment(by)));
}

Status queue_second_search(comparison::Services& services, const IncidentRow& incident,
                           storage::Id bisection) {
  TW_TRY(const auto comparison,
         storage::ComparisonStore(services.database).get(incident.comparison));
  TW_TRY(const auto facts, incident_facts(services, incident, comparison));
  return storage::IncidentStore(services.database)
      .queue(message(incident, storage::OutboxKind::comment,
                     "second-search-" + incident.key + "-" + std::to_string(bisection),
                     report::second_search_comment(facts)));
}

Result<ComparisonRow> report_comparison(comparison::Services& services,
                                        const comparison::Comparison& comparison) {
  const auto& row = comparison.row;
  storage::ComparisonStore comparisons(services.database);
  ComparisonRow reported;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY_VOID(queue_messages(services, row));
    if (row.purpose == storage::Purpose::nightly) {
      TW_TRY_VOID(open_follow_ups(services, comparison));
    }
    TW_TRY(reported,
           comparisons.advance(row, storage::ComparisonState::reported, services.clock.wall_now()));
    return {};
  }));
  TW_TRY_VOID(platform::failpoint("nightly.after_report"));
  return reported;
}

}  // namespace torchwatch::nightly
