#include "torchwatch/commands/incident_output.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/links.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pictures/incident_drawings.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/terminal/incident_text.hpp"
#include "torchwatch/tracing/tracing.hpp"
#include "torchwatch/triage/incident_facts.hpp"

namespace torchwatch::commands {
namespace {

using nlohmann::json;
using terminal::IncidentFacts;

/// What was heard of an incident from the issue tracker.
struct Heard {
  json events = json::array();
  json mutes = json::array();
};

/// An incident with its builds and the stored result of its bisection, null where there is none.
struct Shown {
  IncidentFacts facts;
  json baseline;
  json candidate;
  json bisection_result;
  json traces = json::array();
  json operators;
  Heard heard;
};

/// What the search before this one named, if a person disputed it.
Result<std::optional<terminal::Disputed>> disputed_by(storage::BisectionStore& bisections,
                                                      const storage::BisectionRow& row) {
  TW_TRY(const auto spec, bisection::parse_bisection_spec(row.spec_json));
  if (!spec.dispute) return std::nullopt;
  const auto& [id, by, reason, at] = *spec.dispute;
  TW_TRY(const auto first, bisections.get(id));
  TW_TRY(const auto result, bisection::parse_bisection_result(first.result_json));
  const auto commits = result.single_commits();
  return terminal::Disputed{commits.empty() ? "?" : commits.front(),
                            {.by = by, .reason = reason, .at = at}};
}

Status add_bisection(storage::Database& database, Shown& shown) {
  auto& facts = shown.facts;
  if (!facts.row.bisection) return {};
  storage::BisectionStore bisections(database);
  TW_TRY(const auto row, bisections.get(*facts.row.bisection));
  TW_TRY(facts.disputed, disputed_by(bisections, row));
  TW_TRY(const auto events, bisections.events_of(row.id));
  TW_TRY(facts.trace, bisection::trace_of(row, events));
  if (row.result_json.empty()) return {};
  TW_TRY(facts.result, bisection::parse_bisection_result(row.result_json));
  shown.bisection_result = report::result_of(row);
  return {};
}

Result<Heard> add_heard(storage::Database& database, IncidentFacts& facts) {
  Heard found;
  TW_TRY(const auto events, storage::ConversationStore(database).events_of(facts.row.id));
  for (const auto& event : events) {
    facts.issue_events.push_back(printable(heard::event_text(event)));
    found.events.push_back(heard::json_of(event));
  }
  const auto now = platform::SystemClock().wall_now();
  TW_TRY(const auto mutes, heard::mutes_of(database, facts.row, now));
  for (const auto& mute : mutes) {
    facts.mutes.push_back(std::to_string(mute.id) + ": " + printable(heard::mute_text(mute)));
    found.mutes.push_back(heard::json_of(mute, now, true));
  }
  return found;
}

/// Makes the drawings as text. Damaged samples keep nobody from the rest.
auto drawer_of(storage::Database& database, const config::Config& config,
               const storage::IncidentRow& row) {
  return [&database, &config, row](int columns) -> std::vector<std::string> {
    const auto steps_of = [&](const auto& of) { return bisection::trace_of(database, of); };
    const auto all =
        pictures::drawings_of(pictures::context_of(database, config, true), row, steps_of);
    if (all) return pictures::texts_of(*all, columns);
    return {"What it rests on cannot be drawn: " + all.error().text() + ".\n"};
  };
}

Result<Shown> gather_incident(storage::Database& database, const config::Config& config,
                              storage::Id id) {
  Shown shown;
  auto& facts = shown.facts;
  TW_TRY(facts.row, storage::IncidentStore(database).get(id));
  TW_TRY(facts.messages, storage::OutboxStore(database).of_incident(id));
  TW_TRY(const auto comparison, storage::ComparisonStore(database).get(facts.row.comparison));
  facts.confidence = comparison.confidence.value_or(config.detect.confidence);
  if (comparison.state == storage::ComparisonState::cancelled) facts.cancelled = comparison.reason;
  storage::BuildStore builds(database);
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  facts.candidate = candidate.name;
  shown.candidate = report::build_of_comparison(candidate);
  if (comparison.baseline) {
    TW_TRY(const auto baseline, builds.get(*comparison.baseline));
    facts.baseline = baseline.name;
    shown.baseline = report::build_of_comparison(baseline);
  }
  TW_TRY(facts.loss, report::loss_of(database, facts.row));
  TW_TRY(facts.rechecks, report::rechecks_of(database, facts.row));
  TW_TRY(shown.heard, add_heard(database, facts));
  TW_TRY_VOID(add_bisection(database, shown));
  facts.drawings = drawer_of(database, config, facts.row);
  TW_TRY(const auto traces, tracing::kept_of(database, config, facts.row));
  for (const auto& trace : traces) {
    facts.traces.push_back(printable(tracing::text_of(trace)));
    shown.traces.push_back(tracing::json_of(trace));
  }
  TW_TRY(const auto attribution, operators::attribution_of(database, facts.row));
  if (attribution) {
    facts.operators = printable(operators::text_with_benchmark(*attribution));
    shown.operators = operators::json_of(*attribution);
  }
  facts.reproduce =
      report::reproduce_command(facts.row, facts.baseline, facts.candidate, comparison.plan_json);
  return shown;
}

json json_of(const Shown& shown) {
  const auto& facts = shown.facts;
  auto object = report::json_of(facts.row);
  object["schema"] = 1;
  object["baseline"] = shown.baseline;
  object["candidate"] = shown.candidate;
  object["reproduce"] = report::text_or_null(facts.reproduce);
  object["decisions"] = report::json_list(facts.row.decisions);
  object["issue_events"] = shown.heard.events;
  object["mutes"] = shown.heard.mutes;
  object["rechecks"] = report::json_list(facts.rechecks);
  object.update(report::json_of(facts.loss));
  object["bisection_result"] = shown.bisection_result;
  object["bisection_trace"] = report::json_list(facts.trace);
  object["traces"] = shown.traces;
  object["operators"] = shown.operators;
  return object;
}

/// The text of the issue as it would be now, of an incident that has none yet.
Result<storage::OutboxRow> issue_so_far(const Invocation& invocation,
                                        const storage::IncidentRow& incident) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(auto opened, open_beside(invocation, std::move(config), daemon::Access::read));
  auto& services = opened.services();
  TW_TRY(auto row, storage::ComparisonStore(services.database).get(incident.comparison));
  TW_TRY(const auto comparison, comparison::Comparison::of(std::move(row)));
  TW_TRY(auto facts, triage::incident_facts(services, incident, comparison));
  TW_TRY_VOID(triage::add_history(services, comparison.row, incident, facts));
  facts.key = "open-" + incident.key + "-" + std::to_string(incident.id);
  storage::OutboxRow issue;
  issue.title = report::incident_title(facts);
  issue.body = report::issue_body(facts, config::heard_command_prefix(services.config));
  return issue;
}

Outcome print_issue(const Invocation& invocation, const IncidentFacts& facts) {
  auto messages = facts.messages;
  if (messages.empty()) {
    TW_TRY(messages.emplace_back(), issue_so_far(invocation, facts.row));
    invocation.err << "There is no issue yet; this is its text as it would be now.\n";
  }
  invocation.out << report::issue_markdown(messages);
  return ExitStatus::done;
}

}  // namespace

Outcome show_incident(const Invocation& invocation, storage::Id id) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto shown, gather_incident(*database, config, id));
  const auto& facts = shown.facts;
  if (invocation.json) {
    print_json(invocation, json_of(shown));
    return ExitStatus::done;
  }
  if (invocation.markdown) return print_issue(invocation, facts);
  const auto history = history_of(config);
  print_linked(invocation, [&](auto& out) {
    terminal::print(out, facts, history ? &*history : nullptr, invocation.screen);
  });
  return ExitStatus::done;
}

}  // namespace torchwatch::commands
