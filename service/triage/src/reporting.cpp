#include "torchwatch/triage/reporting.hpp"

#include <algorithm>

#include "torchwatch/filing/filing.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/records/asker.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/incident_facts.hpp"

namespace torchwatch::triage {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::IncidentRow;

/// "closed-KEY-7-2": of an incident with two decisions before this one. A key is used once.
std::string key_of_decision(std::string_view what, const IncidentRow& before) {
  return std::string(what) + "-" + before.key + "-" + std::to_string(before.id) + "-" +
         std::to_string(before.decisions.size());
}

/// Gathers what an incident's issue says, with its history, of the comparison that found it.
filing::FactsOf facts_with_history(comparison::Services& services, const Comparison& comparison) {
  return [&](const IncidentRow& incident) -> Result<report::IncidentFacts> {
    TW_TRY(auto facts, incident_facts(services, incident, comparison));
    TW_TRY_VOID(add_history(services, comparison.row, incident, facts));
    return facts;
  };
}

/// Queues a comment on an incident of an earlier comparison that is there again.
Status queue_recurrence(comparison::Services& services, const Comparison& comparison,
                        const IncidentRow& incident) {
  TW_TRY(const auto facts, incident_facts(services, incident, comparison));
  const std::string key = "recurrence-" + incident.key + "-" + std::to_string(incident.id) +
                          "-comparison-" + std::to_string(comparison.row.id);
  const auto text = report::recurrence_comment(facts, report::has_grown(incident, facts));
  TW_TRY_VOID(
      filing::set_state(services, incident, report::state_found_again(facts.candidate.name)));
  return filing::follow_up(services, incident, storage::OutboxKind::comment, key, text);
}

/// Queues the comment that closes the issue of an incident that is gone.
Status queue_recovery(comparison::Services& services, const Comparison& recheck,
                      const IncidentRow& before) {
  TW_TRY(const auto facts, incident_facts(services, before, recheck));
  TW_TRY_VOID(filing::set_state(services, before, report::state_gone(facts.candidate.name)));
  return filing::follow_up(services, before, storage::OutboxKind::close,
                           key_of_decision("recovery", before), report::recovery_comment(facts));
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
  return report::acceptance_comment(facts, public_text(decision.by), decision.reason);
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
  const auto by = public_text(decision.by);
  const auto key = key_of_decision(to_string(kind), before);
  const auto state = report::state_decided({kind, {.by = by, .reason = decision.reason}}, by);
  const auto queue = [&](storage::OutboxKind as, const std::string& text) -> Status {
    TW_TRY_VOID(filing::set_state(services, before, state));
    return filing::follow_up(services, before, as, key, text);
  };
  switch (kind) {
    case storage::DecisionKind::acknowledged:
      return filing::set_state(services, before, state);
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
  const auto key = "second-search-" + incident.key + "-" + std::to_string(bisection);
  return services.database.transact([&]() -> Status {
    TW_TRY(const auto reported, storage::OutboxStore(services.database).subject_of(key));
    if (!reported.messages.empty()) return {};
    TW_TRY(auto row, storage::ComparisonStore(services.database).get(incident.comparison));
    TW_TRY(const auto comparison, Comparison::of(std::move(row)));
    const auto gather = facts_with_history(services, comparison);
    TW_TRY(const auto facts, gather(incident));
    TW_TRY_VOID(filing::refile(services, incident, gather));
    return filing::follow_up(services, incident, storage::OutboxKind::comment, key,
                             report::second_search_comment(facts));
  });
}

Status file_at_once(comparison::Services& services, const Comparison& comparison) {
  return filing::file_at_once(services, comparison.row, facts_with_history(services, comparison));
}

Status queue_messages(comparison::Services& services, const Comparison& comparison) {
  const auto& row = comparison.row;
  storage::IncidentStore store(services.database);
  TW_TRY_VOID(filing::file_incidents(services, row, facts_with_history(services, comparison)));
  TW_TRY(const auto found_again, store.found_again_by(row.id));
  for (const auto& incident : found_again)
    TW_TRY_VOID(queue_recurrence(services, comparison, incident));
  if (!row.incident) return {};
  TW_TRY(const auto gone, follow_ups::conclude_recheck(services, row));
  return gone ? queue_recovery(services, comparison, *gone) : Status{};
}

}  // namespace torchwatch::triage
