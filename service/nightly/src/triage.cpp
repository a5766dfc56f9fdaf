#include "torchwatch/nightly/triage.hpp"

#include <algorithm>

#include "reporting.hpp"
#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/follow_ups/follow_ups.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::BisectionRow;
using storage::ComparisonRow;
using storage::IncidentRow;

/// How many of the newest bisections are looked at for a dispute that ended.
constexpr int kBisectionsLookedAt = 50;

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

/// Reports the bisection if it is the one that a dispute asked for last.
Status report_dispute(comparison::Services& services, const BisectionRow& row) {
  TW_TRY(const auto spec, bisection::parse_bisection_spec(row.spec_json));
  if (!spec.dispute) return {};
  TW_TRY(const auto incident, storage::IncidentStore(services.database).get(*row.incident));
  return incident.bisection == row.id ? queue_second_search(services, incident, row.id) : Status{};
}

/// Comments on the issues of disputed incidents what their second search found, each once.
Status report_disputes(comparison::Services& services) {
  TW_TRY(const auto rows, storage::BisectionStore(services.database).list(kBisectionsLookedAt));
  for (const auto& row : rows) {
    if (!row.incident || row.state != storage::BisectionState::ended) continue;
    const auto reported = report_dispute(services, row);
    if (reported) continue;
    if (consequence_of(reported.error().code) == Consequence::stops) return reported;
    // One whose report cannot be made keeps no other from its own.
    services.progress.log("bisection " + std::to_string(row.id) +
                          ", of a disputed commit, is not reported: " + reported.error().text());
  }
  return {};
}

/// Whether nothing else carries the bisection out: its incident's comparison has ended.
Result<bool> is_second_search(comparison::Services& services, const BisectionRow& row) {
  if (!row.incident) return false;
  TW_TRY(const auto incident, storage::IncidentStore(services.database).get(*row.incident));
  TW_TRY(const auto comparison,
         storage::ComparisonStore(services.database).get(incident.comparison));
  return is_end(comparison.state);
}

void interrupt(comparison::Services& services, const storage::ItemKey& item) {
  if (services.interrupts != nullptr) services.interrupts->interrupt(item);
}

/// Ends or puts off a bisection of which cannot be said whether anything else carries it out.
Result<Attended> attend_unclear(comparison::Services& services, const BisectionRow& row,
                                const Error& error) {
  return attend(services, {.key = key_of(row),
                           .work = [&]() -> Status { return fail(error); },
                           .end =
                               [&](Failure, const std::string& reason) {
                                 return bisection::end_early(services, row.id, reason);
                               }});
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
  interrupt(services, key_of(row));
  return {};
}

Status cancel_bisection(comparison::Services& services, storage::Id id,
                        const storage::Asker& asker) {
  TW_TRY_VOID(bisection::end_early(services, id, bisection::cancelled_by(asker)));
  interrupt(services, {storage::ItemKind::bisection, std::to_string(id)});
  return {};
}

Result<bool> attend_second_searches(comparison::Services& services, Retry retry,
                                    std::stop_token stop) {
  TW_TRY_VOID(report_disputes(services));
  TW_TRY(const auto open, storage::BisectionStore(services.database).unfinished());
  bool any = false;
  for (const auto& row : open) {
    TW_TRY(const bool due, is_due(services, key_of(row)));
    if (retry == Retry::when_due && !due) continue;
    const auto is_second = is_second_search(services, row);
    if (is_second && !*is_second) continue;
    TW_TRY_VOID(is_second ? attend_bisection(services, row, stop)
                          : attend_unclear(services, row, is_second.error()));
    any = true;
    if (retry == Retry::when_due) break;
  }
  if (any) TW_TRY_VOID(report_disputes(services));
  return any;
}

}  // namespace torchwatch::nightly
