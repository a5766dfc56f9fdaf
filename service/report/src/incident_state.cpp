#include "torchwatch/report/incident_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "torchwatch/documents/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/words.hpp"
#include "torchwatch/report/printed_output.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::report {
namespace {

bool is_edit_of_issue(const storage::OutboxRow& message) {
  return message.kind == storage::OutboxKind::edit && message.target.empty();
}

/// "one side was slowed down by 14.0 % on purpose, which must be found".
std::string drill_text(const storage::ComparisonRow& drill) {
  const auto plan = comparison::parse_plan(drill.plan_json);
  if (!plan) return "one side was slowed down on purpose, which must be found";
  return "one side was slowed down by " + figures::share(plan->planted_slowdown) +
         " on purpose, which must be found";
}

}  // namespace

std::string_view state_word(const storage::IncidentRow& incident) {
  return incident.acceptance ? "accepted" : to_string(incident.state);
}

std::vector<std::string> state_words() {
  auto words = words_of<storage::IncidentState>();
  words.emplace_back(to_string(storage::DecisionKind::accepted));
  return words;
}

Status check_state_word(std::string_view word) {
  const auto words = state_words();
  if (std::ranges::find(words, word) != words.end()) return {};
  return fail(ErrorCode::invalid, fmt::format("invalid state \"{}\": must be one of {}",
                                              word.substr(0, 100), fmt::join(words, ", ")));
}

bool is_in_state(const storage::IncidentRow& incident, std::string_view word) {
  return word == to_string(incident.state) || word == state_word(incident);
}

std::string decision_text(const storage::DecisionRow& row) {
  const auto& decision = row.decision;
  std::string text(to_string(row.kind));
  if (!decision.by.empty()) text += " by " + decision.by;
  if (!decision.asked_by.empty()) text += " (" + decision.asked_by + ")";
  text += " on " + platform::date_and_minute(decision.at) + " UTC";
  return decision.reason.empty() ? text : text + ": " + decision.reason;
}

std::string state_text(const storage::IncidentRow& incident) {
  using storage::DecisionKind;
  if (incident.acceptance) return decision_text({DecisionKind::accepted, *incident.acceptance});
  for (const auto& row : incident.decisions | std::views::reverse) {
    if (row.kind == DecisionKind::disputed) continue;
    const auto text = decision_text(row);
    return row.kind == DecisionKind::reopened ? "open, " + text : text;
  }
  const bool is_closed = incident.state == storage::IncidentState::closed;
  const auto at = platform::date_and_minute(is_closed ? incident.closed_at : incident.opened_at);
  return std::string(to_string(incident.state)) + (is_closed ? " on " : " since ") + at + " UTC";
}

Result<Loss> loss_of(storage::Database& database, const storage::IncidentRow& incident,
                     std::span<const std::string> secrets) {
  Loss loss;
  if (incident.kind != IncidentKind::lost || incident.series.empty()) return loss;
  storage::ComparisonStore comparisons(database);
  TW_TRY(const auto verdict,
         storage::verdict_on(database, incident.comparison, incident.series.front().series));
  if (verdict) loss.reason = verdict->reason;
  TW_TRY(const auto comparison, comparisons.get(incident.comparison));
  const storage::Owner owner{storage::OwnerKind::comparison, comparison.id};
  for (const auto& lost : incident.series) {
    TW_TRY(const auto output, storage::RunReader(database).output_of(owner, comparison.candidate,
                                                                     lost.series.benchmark));
    loss.output = last_lines(output, secrets);
    if (!loss.output.empty()) break;
  }
  return loss;
}

nlohmann::json json_of(const Loss& loss) {
  return {{"reason", text_or_null(loss.reason)}, {"output", loss.output}};
}

std::optional<storage::OutboxRow> issue_in(const std::vector<storage::OutboxRow>& messages) {
  std::optional<storage::OutboxRow> issue;
  for (const auto& message : messages) {
    if (message.kind == storage::OutboxKind::open && !issue) issue = message;
    if (!issue || !is_edit_of_issue(message)) continue;
    issue->title = message.title;
    issue->body = message.body;
  }
  return issue;
}

std::string issue_text(const std::vector<storage::OutboxRow>& messages,
                       const std::string& unfiled) {
  const auto opening = issue_in(messages);
  if (!opening) return unfiled.empty() ? "no issue yet" : "not filed: " + unfiled;
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

std::string issue_markdown(const std::vector<storage::OutboxRow>& messages) {
  std::string text;
  const auto add = [&](const storage::OutboxRow& message) {
    text += "# " + message.title + "\n\n" + message.body + "\n";
  };
  if (const auto issue = issue_in(messages)) add(*issue);
  for (const auto& message : messages) {
    const bool is_comment = message.target.empty() && message.kind != storage::OutboxKind::open &&
                            message.kind != storage::OutboxKind::edit;
    if (is_comment) add(message);
  }
  return text;
}

std::string remark_on(const storage::ComparisonRow& comparison) {
  if (!comparison.reason.empty()) return comparison.reason;
  if (comparison.incident) {
    return "incident " + std::to_string(*comparison.incident) + " measured again";
  }
  if (comparison.purpose == storage::Purpose::drill) return drill_text(comparison);
  if (comparison.nightlies_back == 0) return {};
  return "compared with the nightly " + std::to_string(comparison.nightlies_back) +
         " before, measured again";
}

}  // namespace torchwatch::report
