#include "torchwatch/triage/triage.hpp"

#include <algorithm>

#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/reporting.hpp"

namespace torchwatch::triage {
namespace {

using storage::BisectionRow;
using storage::ComparisonRow;
using storage::IncidentRow;

std::string name_of(const IncidentRow& incident) {
  return "incident " + std::to_string(incident.id);
}

/// Returns the open incident and the comparison that found it, which has ended.
Result<std::pair<IncidentRow, ComparisonRow>> open_incident(comparison::Services& services,
                                                            storage::Id id,
                                                            std::string_view action) {
  TW_TRY(auto incident, storage::IncidentStore(services.database).get(id));
  if (incident.state == storage::IncidentState::closed) {
    return fail(ErrorCode::conflict,
                name_of(incident) + (incident.acceptance ? " is accepted" : " is closed") +
                    " and cannot be " + std::string(action) + ": reopen it first");
  }
  TW_TRY(auto comparison, storage::ComparisonStore(services.database).get(incident.comparison));
  if (is_end(comparison.state)) return std::pair{std::move(incident), std::move(comparison)};
  return fail(ErrorCode::conflict, name_of(incident) + " cannot be " + std::string(action) +
                                       " before its comparison " + std::to_string(comparison.id) +
                                       " has ended");
}

/// Returns the search that named a commit. Errors: conflict, when none did.
Result<BisectionRow> search_that_named(comparison::Services& services,
                                       const IncidentRow& incident) {
  const auto none = [&] {
    return fail(ErrorCode::conflict,
                name_of(incident) + " names no commit, so there is nothing to dispute");
  };
  if (!incident.bisection) return none();
  TW_TRY(auto row, storage::BisectionStore(services.database).get(*incident.bisection));
  if (row.state != storage::BisectionState::ended) {
    return fail(ErrorCode::conflict,
                name_of(incident) + " is being searched by bisection " + std::to_string(row.id));
  }
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  if (result.culprits.empty()) return none();
  return row;
}

Result<BisectionRow> open_again(comparison::Services& services, const BisectionRow& row,
                                bisection::Dispute dispute) {
  TW_TRY(auto spec, bisection::parse_bisection_spec(row.spec_json));
  spec.dispute = std::move(dispute);
  BisectionRow again;
  again.incident = row.incident;
  again.good = row.good;
  again.bad = row.bad;
  again.spec_json = to_json(spec);
  again.created_at = services.clock.wall_now();
  return storage::BisectionStore(services.database).open(again);
}

/// The newest nightly that can be measured, or the incident's own candidate.
Result<storage::Id> build_to_retest(comparison::Services& services, const ComparisonRow& found_by) {
  storage::BuildStore builds(services.database);
  TW_TRY(const auto rows, builds.list());
  TW_TRY(auto newest, builds.get(found_by.candidate));
  for (const auto& row : rows) {
    const bool is_usable = row.origin == storage::BuildOrigin::nightly && row.is_measurable();
    if (is_usable && row.place > newest.place) newest = row;
  }
  return newest.id;
}

void interrupt(comparison::Services& services, const storage::ItemKey& item) {
  if (services.interrupts != nullptr) services.interrupts->interrupt(item);
}

}  // namespace

Result<BisectionRow> dispute_incident(comparison::Services& services, storage::Id id,
                                      const storage::Decision& asked, Telling telling) {
  TW_TRY_VOID(require_name_and_reason(asked.by, asked.reason, "a dispute"));
  auto detached = without_history(services);
  BisectionRow opened;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY(const auto found, open_incident(services, id, "disputed"));
    TW_TRY(const auto named, search_that_named(services, found.first));
    auto decision = asked;
    decision.at = services.clock.wall_now();
    storage::IncidentStore incidents(services.database);
    TW_TRY_VOID(incidents.dispute(id, decision));
    if (telling == Telling::issue) {
      TW_TRY_VOID(
          queue_decision(detached, found.first, {storage::DecisionKind::disputed, decision}));
    }
    TW_TRY(opened, open_again(services, named,
                              {.bisection = named.id,
                               .by = decision.by,
                               .reason = decision.reason,
                               .at = decision.at}));
    return incidents.attach_bisection(id, opened.id);
  }));
  return opened;
}

Result<Retest> retest_incident(comparison::Services& services, storage::Id id) {
  TW_TRY(const auto found, open_incident(services, id, "tested again"));
  const auto& [incident, found_by] = found;
  TW_TRY(const auto unfinished, storage::ComparisonStore(services.database).unfinished());
  const auto due = std::ranges::find(unfinished, std::optional(id), &ComparisonRow::incident);
  if (due != unfinished.end()) return Retest{*due, false};
  TW_TRY(const auto candidate, build_to_retest(services, found_by));
  TW_TRY(const auto comparison, comparison::Comparison::of(found_by));
  TW_TRY(auto opened,
         follow_ups::open_recheck(services, incident, found_by, comparison.plan, candidate));
  return Retest{std::move(opened), true};
}

Status cancel_comparison(comparison::Services& services, storage::Id id,
                         const storage::Asker& asker) {
  TW_TRY(const auto row, storage::ComparisonStore(services.database)
                             .cancel(id, "by " + to_string(asker), services.clock.wall_now()));
  interrupt(services, {storage::ItemKind::comparison, std::to_string(row.id)});
  return {};
}

Status cancel_bisection(comparison::Services& services, storage::Id id,
                        const storage::Asker& asker) {
  TW_TRY_VOID(bisection::end_early(services, id, bisection::cancelled_by(asker)));
  interrupt(services, {storage::ItemKind::bisection, std::to_string(id)});
  return {};
}

}  // namespace torchwatch::triage
