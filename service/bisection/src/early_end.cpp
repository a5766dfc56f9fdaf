#include "torchwatch/bisection/early_end.hpp"

#include "recorded_result.hpp"

namespace torchwatch::bisection {
namespace {

constexpr std::string_view kCancelledBy = "cancelled by ";

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

std::string cancelled_by(const storage::Asker& asker) {
  return std::string(kCancelledBy) + to_string(asker);
}

std::string public_reason(const std::string& reason) {
  if (!reason.starts_with(kCancelledBy)) return reason;
  const auto behind = reason.ends_with(kConfirmedBefore) ? kConfirmedBefore : std::string_view();
  auto who = reason.substr(kCancelledBy.size());
  who.resize(who.size() - behind.size());
  return std::string(kCancelledBy) + public_text(who) + std::string(behind);
}

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
