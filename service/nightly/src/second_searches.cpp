#include "torchwatch/nightly/second_searches.hpp"

#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/reporting.hpp"

namespace torchwatch::nightly {
namespace {

using storage::BisectionRow;

/// How many of the newest bisections are looked at for a dispute that ended.
constexpr int kBisectionsLookedAt = 50;

/// Reports the bisection if it is the one that a dispute asked for last.
Status report_dispute(comparison::Services& services, const BisectionRow& row) {
  TW_TRY(const auto spec, bisection::parse_bisection_spec(row.spec_json));
  if (!spec.dispute) return {};
  TW_TRY(const auto incident, storage::IncidentStore(services.database).get(*row.incident));
  return incident.bisection == row.id ? triage::queue_second_search(services, incident, row.id)
                                      : Status{};
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
