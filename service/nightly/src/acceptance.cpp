#include "torchwatch/nightly/acceptance.hpp"

#include "reporting.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::nightly {
namespace {

/// The comment that closes an issue must not enter the outbox before the message that opens it.
Status require_reported(comparison::Services& services, const storage::IncidentRow& incident) {
  TW_TRY(const auto comparison,
         storage::ComparisonStore(services.database).get(incident.comparison));
  if (comparison.state == storage::ComparisonState::reported) return {};
  return fail(ErrorCode::conflict, "incident " + std::to_string(incident.id) +
                                       " has no issue yet because its comparison has not ended: "
                                       "run `torchwatch nightly` to end it");
}

}  // namespace

Status accept_incident(comparison::Services& services, storage::Id id, const std::string& by,
                       const std::string& reason) {
  TW_TRY_VOID(require_name_and_reason(by, reason, "an acceptance"));
  storage::IncidentStore store(services.database);
  // The repository belongs to the pipeline's thread, and an acceptance names no commit.
  auto without_history = services;
  without_history.history = nullptr;
  const storage::Acceptance acceptance{by, reason, services.clock.wall_now()};
  return services.database.transact([&]() -> Status {
    TW_TRY(const auto incident, store.get(id));
    TW_TRY_VOID(require_reported(services, incident));
    TW_TRY_VOID(store.accept(id, acceptance));
    return queue_acceptance(without_history, incident, acceptance);
  });
}

}  // namespace torchwatch::nightly
