#include "reporting.hpp"

#include <algorithm>

#include "follow_ups.hpp"
#include "login.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/nightly/incident_facts.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/outbox_store.hpp"

namespace torchwatch::nightly {
namespace {

using comparison::Comparison;
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

/// "closed-KEY-7-2": of an incident with two decisions before this one. A key is used once.
std::string key_of_decision(std::string_view what, const IncidentRow& before) {
  return std::string(what) + "-" + before.key + "-" + std::to_string(before.id) + "-" +
         std::to_string(before.decisions.size());
}

/// Queues a message that follows the one which opens the incident's issue. An incident whose
/// comparison ended without a report has no issue, and nothing to say there.
Status queue_follow_up(comparison::Services& services, const IncidentRow& incident,
                       storage::OutboxKind kind, const std::string& key, const std::string& text) {
  storage::OutboxStore outbox(services.database);
  TW_TRY(const auto messages, outbox.of_incident(incident.id));
  const auto opening =
      std::ranges::find(messages, storage::OutboxKind::open, &storage::OutboxRow::kind);
  if (opening == messages.end()) return {};
  return outbox.queue(
      message(incident, kind, key, report::with_marker(text, key, services.random.token())));
}

Status queue_issue(comparison::Services& services, const Comparison& comparison,
                   const IncidentRow& incident) {
  TW_TRY(auto facts, incident_facts(services, incident, comparison));
  TW_TRY_VOID(add_history(services, comparison.row, facts));
  const std::string key = "open-" + incident.key + "-" + std::to_string(incident.id);
  facts.key = key + ":" + services.random.token();  // nobody else can write such a marker
  auto row = message(incident, storage::OutboxKind::open, key, report::issue_body(facts));
  row.title = report::incident_title(facts);
  TW_TRY_VOID(storage::IncidentStore(services.database).set_title(incident.id, row.title));
  return storage::OutboxStore(services.database).queue(row);
}

/// Queues a comment on an incident of an earlier comparison that is there again.
Status queue_recurrence(comparison::Services& services, const Comparison& comparison,
                        const IncidentRow& incident) {
  TW_TRY(const auto facts, incident_facts(services, incident, comparison));
  const std::string key = "recurrence-" + incident.key + "-" + std::to_string(incident.id) +
                          "-comparison-" + std::to_string(comparison.row.id);
  return queue_follow_up(services, incident, storage::OutboxKind::comment, key,
                         report::recurrence_comment(facts));
}

/// Queues the comment that closes the issue of an incident that is gone.
Status queue_recovery(comparison::Services& services, const Comparison& recheck,
                      const IncidentRow& before) {
  TW_TRY(const auto facts, incident_facts(services, before, recheck));
  return queue_follow_up(services, before, storage::OutboxKind::close,
                         key_of_decision("recovery", before), report::recovery_comment(facts));
}

Status queue_messages(comparison::Services& services, const Comparison& comparison) {
  const auto& row = comparison.row;
  storage::IncidentStore store(services.database);
  TW_TRY(const auto incidents, store.of_comparison(row.id));
  for (const auto& incident : incidents) TW_TRY_VOID(queue_issue(services, comparison, incident));
  TW_TRY(const auto found_again, store.found_again_by(row.id));
  for (const auto& incident : found_again)
    TW_TRY_VOID(queue_recurrence(services, comparison, incident));
  if (!row.incident) return {};
  TW_TRY(const auto gone, conclude_recheck(services, row));
  return gone ? queue_recovery(services, comparison, *gone) : Status{};
}

/// The facts of an incident in the comparison that opened it.
Result<report::IncidentFacts> facts_of(comparison::Services& services,
                                       const IncidentRow& incident) {
  TW_TRY(auto row, storage::ComparisonStore(services.database).get(incident.comparison));
  TW_TRY(const auto comparison, Comparison::of(std::move(row)));
  return incident_facts(services, incident, comparison);
}

Result<std::string> acceptance_text(comparison::Services& services, const IncidentRow& incident,
                                    const storage::Decision& decision) {
  TW_TRY(const auto facts, facts_of(services, incident));
  return report::acceptance_comment(facts, without_asker(decision.by), decision.reason);
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

Status require_name(const std::string& by, std::string_view what) {
  if (!is_blank(by)) return {};
  return fail(ErrorCode::invalid, std::string(what) + " needs the name of who makes it");
}

Status require_name_and_reason(const std::string& by, const std::string& reason,
                               std::string_view what) {
  if (!is_blank(by) && !is_blank(reason)) return {};
  return fail(ErrorCode::invalid,
              std::string(what) + " needs the name of who makes it, and a reason");
}

comparison::Services without_history(const comparison::Services& services) {
  auto copy = services;
  copy.history = nullptr;
  return copy;
}

Status queue_decision(comparison::Services& services, const IncidentRow& before,
                      const storage::DecisionRow& row) {
  const auto& [kind, decision] = row;
  const auto by = without_asker(decision.by);
  const auto key = key_of_decision(to_string(kind), before);
  const auto queue = [&](storage::OutboxKind as, const std::string& text) {
    return queue_follow_up(services, before, as, key, text);
  };
  switch (kind) {
    case storage::DecisionKind::acknowledged:
      return {};
    case storage::DecisionKind::accepted: {
      TW_TRY(const auto text, acceptance_text(services, before, decision));
      return queue(storage::OutboxKind::close, text);
    }
    case storage::DecisionKind::closed:
      return queue(storage::OutboxKind::close, report::closing_comment(by, decision.reason));
    case storage::DecisionKind::reopened:
      return queue(storage::OutboxKind::reopen, report::reopening_comment(by, decision.reason));
    case storage::DecisionKind::disputed:
      return queue(storage::OutboxKind::comment, report::dispute_comment(by, decision.reason));
  }
  return {};
}

Status queue_second_search(comparison::Services& services, const IncidentRow& incident,
                           storage::Id bisection) {
  TW_TRY(const auto facts, facts_of(services, incident));
  const auto key = "second-search-" + incident.key + "-" + std::to_string(bisection);
  return queue_follow_up(services, incident, storage::OutboxKind::comment, key,
                         report::second_search_comment(facts));
}

Result<ComparisonRow> report_comparison(comparison::Services& services,
                                        const comparison::Comparison& comparison) {
  const auto& row = comparison.row;
  storage::ComparisonStore comparisons(services.database);
  ComparisonRow reported;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY_VOID(queue_messages(services, comparison));
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
