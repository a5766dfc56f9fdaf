#include "torchwatch/report/incident_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace torchwatch::report {

std::string_view state_word(const storage::IncidentRow& incident) {
  return incident.acceptance ? "accepted" : to_string(incident.state);
}

std::string issue_text(const std::vector<storage::OutboxRow>& messages) {
  const auto opening =
      std::ranges::find(messages, storage::OutboxKind::open, &storage::OutboxRow::kind);
  if (opening == messages.end()) return "no issue yet";
  switch (opening->state) {
    case storage::OutboxState::sent:
      return fmt::format("filed as issue #{}", opening->issue_number.value_or(0));
    case storage::OutboxState::dead:
      return fmt::format("given up, {}; `torchwatch outbox retry {}` sends it again",
                         opening->last_error, opening->key);
    case storage::OutboxState::pending:
    case storage::OutboxState::sending:
      break;
  }
  if (opening->last_error.empty()) return "in the outbox, not filed yet";
  return "in the outbox, not filed yet: " + opening->last_error;
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
