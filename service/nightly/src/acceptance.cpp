#include "torchwatch/nightly/acceptance.hpp"

#include "reporting.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

/// What is said last must not wait in the outbox before what opens the issue.
Status require_told(Workshop& workshop, const storage::IncidentRow& incident) {
  TW_TRY(const auto night, storage::NightStore(workshop.database).get(incident.night));
  if (night.state == storage::NightState::reported) return {};
  return fail(ErrorCode::conflict, "incident " + std::to_string(incident.id) +
                                       " has no issue yet, its night is still worked on: "
                                       "`torchwatch nightly` ends it");
}

}  // namespace

Status accept_incident(Workshop& workshop, storage::Id id, const std::string& by,
                       const std::string& reason) {
  if (is_blank(by) || is_blank(reason)) {
    return fail(ErrorCode::invalid, "who accepts an incident, and why, must be said");
  }
  storage::IncidentStore store(workshop.database);
  const storage::Acceptance acceptance{by, reason, workshop.clock.wall_now()};
  return workshop.database.transact([&]() -> Status {
    TW_TRY(const auto incident, store.get(id));
    TW_TRY_VOID(require_told(workshop, incident));
    TW_TRY_VOID(store.accepted(id, acceptance));
    return queue_acceptance(workshop, incident, acceptance);
  });
}

}  // namespace torchwatch::nightly
