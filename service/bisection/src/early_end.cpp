#include "torchwatch/bisection/early_end.hpp"

#include "recorded_result.hpp"

namespace torchwatch::bisection {
namespace {

/// What is stored of a bisection may be damaged, or by an older version: it can be ended all the
/// same.
BisectionResult early_result(comparison::Services& services, const storage::BisectionRow& row,
                             EarlyEnd end) {
  const auto spec = parse_bisection_spec(row.spec_json);
  if (spec) {
    const auto recorded = RecordedSearch::from_events(services.database, row.id, *spec);
    if (recorded) return result_of(std::move(end), *recorded, *spec);
  }
  BisectionResult result;
  result.outcome = end.outcome;
  result.reason = std::move(end.reason);
  return result;
}

}  // namespace

Status end_early(comparison::Services& services, storage::Id id, const std::string& reason) {
  // Whatever the search records meanwhile comes before the end, or not at all.
  return services.database.transact([&]() -> Status {
    storage::BisectionStore store(services.database);
    TW_TRY(const auto row, store.get(id));
    const auto result = early_result(services, row, {BisectionOutcome::faulted, reason});
    return store.end(row, to_json(result), services.clock.wall_now());
  });
}

}  // namespace torchwatch::bisection
