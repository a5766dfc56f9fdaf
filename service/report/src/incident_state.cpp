#include "torchwatch/report/incident_state.hpp"

#include "torchwatch/doors/clock.hpp"

namespace torchwatch::report {

std::string_view state_word(const storage::IncidentRow& incident) {
  return incident.acceptance ? "accepted" : to_string(incident.state);
}

nlohmann::json json_of(const std::optional<storage::Acceptance>& acceptance) {
  if (!acceptance) return nullptr;
  return {{"by", acceptance->by},
          {"reason", acceptance->reason},
          {"at", doors::iso_utc(acceptance->at)}};
}

}  // namespace torchwatch::report
