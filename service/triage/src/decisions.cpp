#include "torchwatch/triage/decisions.hpp"

#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/reporting.hpp"

namespace torchwatch::triage {
namespace {

using storage::Decision;
using storage::DecisionKind;

/// What closes an issue must not enter the outbox before the message that opens it.
Status require_ended(comparison::Services& services, const storage::IncidentRow& incident) {
  TW_TRY(const auto comparison,
         storage::ComparisonStore(services.database).get(incident.comparison));
  if (is_end(comparison.state)) return {};
  return fail(ErrorCode::conflict, "incident " + std::to_string(incident.id) +
                                       " has no issue yet because its comparison " +
                                       std::to_string(comparison.id) +
                                       " has not ended: decide when `torchwatch incident show` "
                                       "says that it is filed");
}

}  // namespace

Status decide_incident(comparison::Services& services, storage::Id id, DecisionKind kind,
                       const Decision& asked, Telling telling) {
  const bool needs_reason = kind == DecisionKind::accepted;
  TW_TRY_VOID(needs_reason ? require_name_and_reason(asked.by, asked.reason, "an acceptance")
                           : require_name(asked.by, "a decision"));
  if (kind == DecisionKind::disputed) {
    return fail(ErrorCode::internal, "a dispute opens a search: dispute_incident makes it");
  }
  storage::IncidentStore incidents(services.database);
  auto detached = without_history(services);
  auto decision = asked;
  decision.at = services.clock.wall_now();
  return services.database.transact([&]() -> Status {
    TW_TRY(const auto before, incidents.get(id));
    const bool closes = kind == DecisionKind::accepted || kind == DecisionKind::closed;
    if (closes) TW_TRY_VOID(require_ended(services, before));
    TW_TRY_VOID(incidents.decide(id, kind, decision));
    if (telling == Telling::nowhere) return {};
    return queue_decision(detached, before, {kind, decision});
  });
}

}  // namespace torchwatch::triage
