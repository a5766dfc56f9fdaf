#include <algorithm>

#include "kinds.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::follow_ups {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::IncidentRow;
using storage::Purpose;

/// Returns whether `comparison` has a newer candidate than `earlier`, because a nightly may arrive
/// late.
Result<bool> is_newer(comparison::Services& services, const ComparisonRow& comparison,
                      const ComparisonRow& earlier) {
  storage::BuildStore builds(services.database);
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  TW_TRY(const auto before, builds.get(earlier.candidate));
  return candidate.place > before.place;
}

/// Returns whether a newer build than the recheck's has shown the incident again.
Result<bool> is_shown_since(comparison::Services& services, const IncidentRow& incident,
                            const ComparisonRow& recheck) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(auto shown_by, storage::IncidentStore(services.database).recurrences_of(incident.id));
  shown_by.push_back(incident.comparison);
  for (const auto id : shown_by) {
    TW_TRY(const auto comparison, comparisons.get(id));
    TW_TRY(const bool newer, is_newer(services, comparison, recheck));
    if (newer) return true;
  }
  return false;
}

template <typename Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// Restricts a plan to the series of the incident, as far as they are in it: a benchmark that has
/// left the suite cannot be measured. An operator can in a workload that is there.
comparison::Plan plan_of_recheck(const comparison::Plan& nightly, const IncidentRow& incident) {
  auto plan = nightly;
  plan.benchmarks.clear();
  plan.passes.clear();
  plan.watched_operators = 0;
  plan.outputs = incident.kind == IncidentKind::result;
  for (const auto& each : incident.series) {
    const auto& [benchmark, metric] = each.series;
    const auto is_in = [&](const Benchmark& one) {
      return std::ranges::find(nightly.benchmarks, one) != nightly.benchmarks.end();
    };
    if (!is_in(benchmark) && !is_in(whole_of(benchmark))) continue;
    add_once(plan.benchmarks, benchmark);
    add_once(plan.passes, pass_of(metric));
  }
  return plan;
}

}  // namespace

Status open_rechecks(comparison::Services& services, const Comparison& nightly) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto incidents, storage::IncidentStore(services.database).unclosed());
  for (const auto& incident : incidents) {
    if (incident.comparison == nightly.row.id) continue;
    TW_TRY(const auto found_by, comparisons.get(incident.comparison));
    TW_TRY(const bool newer, is_newer(services, nightly.row, found_by));
    if (!newer) continue;
    TW_TRY(const auto asked_for, comparisons.recheck_of(incident.id, nightly.row.candidate));
    if (asked_for) continue;
    if (plan_of_recheck(nightly.plan, incident).benchmarks.empty()) continue;
    TW_TRY_VOID(open_recheck(services, incident, found_by, nightly.plan, nightly.row.candidate));
  }
  return {};
}

Result<ComparisonRow> open_recheck(comparison::Services& services, const IncidentRow& incident,
                                   const ComparisonRow& found_by, const comparison::Plan& plan,
                                   storage::Id candidate) {
  return storage::ComparisonStore(services.database)
      .open({.purpose = Purpose::recheck,
             .candidate = candidate,
             .baseline = found_by.baseline,
             .incident = incident.id,
             // What was lost and comes back slower has been compared with no build that ran.
             .opens_incidents = incident.kind == IncidentKind::lost,
             .plan_json = to_json(plan_of_recheck(plan, incident))},
            services.clock.wall_now());
}

Result<std::optional<IncidentRow>> conclude_recheck(comparison::Services& services,
                                                    const ComparisonRow& recheck) {
  storage::IncidentStore store(services.database);
  TW_TRY(auto incident, store.get(*recheck.incident));
  TW_TRY(const auto rechecks, report::rechecks_of(services.database, incident));
  const auto own = std::ranges::find_if(
      rechecks, [&](const auto& each) { return each.comparison.id == recheck.id; });
  const bool is_over = own != rechecks.end() && own->outcome == report::RecheckOutcome::gone;
  if (!is_over || incident.state == storage::IncidentState::closed) return std::nullopt;
  TW_TRY(const bool shown_since, is_shown_since(services, incident, recheck));
  if (shown_since) return std::nullopt;
  TW_TRY_VOID(store.close(incident.id, {.by = "",
                                        .reason = "comparison " + std::to_string(recheck.id) +
                                                  ", a recheck, found nothing of it left" +
                                                  report::unmeasured_text(*own),
                                        .at = services.clock.wall_now()}));
  return incident;
}

}  // namespace torchwatch::follow_ups
