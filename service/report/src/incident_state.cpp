#include "torchwatch/report/incident_state.hpp"

namespace torchwatch::report {

std::string_view state_word(const storage::IncidentRow& incident) {
  return incident.acceptance ? "accepted" : to_string(incident.state);
}

std::string remark_on(const storage::ComparisonRow& comparison) {
  if (!comparison.reason.empty()) return comparison.reason;
  if (comparison.incident) {
    return "incident " + std::to_string(*comparison.incident) + " measured again";
  }
  if (comparison.nightlies_back == 0) return {};
  return "compared with the nightly " + std::to_string(comparison.nightlies_back) +
         " before, measured again";
}

}  // namespace torchwatch::report
