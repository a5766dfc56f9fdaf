#include "torchwatch/commands/comparison_output.hpp"

#include <algorithm>
#include <ostream>

#include "torchwatch/commands/links.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/printed_output.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/study_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/terminal/bisection_text.hpp"
#include "torchwatch/triage/comparison_summary.hpp"

namespace torchwatch::commands {
namespace {

using nlohmann::json;
using storage::IncidentRow;
using terminal::ComparisonFacts;

constexpr double kMillisPerSecond = 1000;

/// What the bisection of an incident ended with; nothing if it has none, or has not ended.
using FoundCause = std::optional<bisection::BisectionResult>;

Result<FoundCause> result_of(storage::Database& database, const IncidentRow& incident) {
  if (!incident.bisection) return std::nullopt;
  TW_TRY(const auto row, storage::BisectionStore(database).get(*incident.bisection));
  if (row.result_json.empty()) return std::nullopt;
  TW_TRY(auto result, bisection::parse_bisection_result(row.result_json));
  return std::optional(std::move(result));
}

Result<json> incident_json(storage::Database& database, const IncidentRow& incident) {
  auto object = report::json_of(incident);
  if (!incident.bisection) return object;
  TW_TRY(const auto bisection, storage::BisectionStore(database).get(*incident.bisection));
  const auto result = report::result_of(bisection);
  for (const auto& [name, value] : result.items()) {
    // The incident's own effects are the comparison's; those of the bisection stand beside them.
    object[name == "effects" ? "culprit_effects" : name] = value;
  }
  return object;
}

/// The remarks on the comparison as a whole; none where they are damaged.
std::vector<std::string> remarks_on(const storage::ComparisonRow& comparison) {
  const auto summary = triage::parse_summary(comparison.summary_json);
  return summary ? triage::in_sentences(*summary) : std::vector<std::string>{};
}

Result<terminal::FoundIncident> found_incident(storage::Database& database,
                                               const bisect::CommitHistory* history,
                                               const IncidentRow& incident,
                                               const FoundCause& result) {
  terminal::FoundIncident found{.row = incident, .culprit = {}, .issue = {}};
  if (result) {
    const auto cause = terminal::cause_of(*result, history);
    found.culprit = cause.culprit;
    found.confidence = cause.confidence;
  }
  TW_TRY(const auto messages, storage::OutboxStore(database).of_incident(incident.id));
  found.issue = report::issue_text(messages, incident.unfiled);
  return found;
}

}  // namespace

std::optional<bisect::CommitHistory> history_of(const config::Config& config) {
  if (config.source.repository.empty()) return std::nullopt;
  auto history = bisect::CommitHistory::open(repository_folder(config));
  return history ? std::optional(std::move(*history)) : std::nullopt;
}

Result<terminal::FoundIncident> gather(storage::Database& database,
                                       const bisect::CommitHistory* history,
                                       const IncidentRow& incident) {
  TW_TRY(const auto result, result_of(database, incident));
  return found_incident(database, history, incident, result);
}

Result<ComparisonFacts> gather(storage::Database& database, const config::Config& config,
                               const bisect::CommitHistory* history,
                               const storage::ComparisonRow& comparison) {
  ComparisonFacts facts;
  facts.confidence = comparison.confidence.value_or(config.detect.confidence);
  facts.comparison = comparison;
  facts.remarks = remarks_on(comparison);
  TW_TRY(facts.study, storage::StudyStore(database).find(comparison.id));
  storage::BuildStore builds(database);
  TW_TRY(facts.candidate, builds.get(comparison.candidate));
  if (comparison.baseline) {
    TW_TRY(facts.baseline, builds.get(*comparison.baseline));
  }
  TW_TRY(auto verdicts, storage::verdicts_of(database, comparison.id));
  TW_TRY(facts.verdicts, report::with_printed_output(database, comparison, std::move(verdicts)));
  TW_TRY(facts.newly_measured, report::newly_measured(database, comparison, facts.verdicts));
  TW_TRY(const auto runs,
         storage::RunStore(database).runs_of({storage::OwnerKind::comparison, comparison.id}));
  facts.runs = static_cast<int>(runs.size());
  TW_TRY(const auto began_at,
         storage::RunStore(database).began_at({storage::OwnerKind::comparison, comparison.id}));
  if (began_at && comparison.ended_at > 0) {
    facts.seconds = static_cast<double>(comparison.ended_at - *began_at) / kMillisPerSecond;
  }
  TW_TRY(const auto incidents, storage::IncidentStore(database).of_comparison(comparison.id));
  for (const auto& incident : incidents) {
    TW_TRY(const auto result, result_of(database, incident));
    TW_TRY(facts.incidents.emplace_back(), found_incident(database, history, incident, result));
    if (!result) continue;
    facts.runs += result->runs;
    facts.builds += result->builds;
  }
  return facts;
}

Result<json> to_json(storage::Database& database, const ComparisonFacts& facts) {
  const auto& row = facts.comparison;
  TW_TRY(auto object, report::json_of(database, row));
  if (!is_end(row.state)) object["result"] = facts.stage;
  object.erase("candidate");
  object.update({{"nightly", facts.candidate.name},
                 {"baseline", row.baseline ? json(facts.baseline.name) : json(nullptr)},
                 {"summary", facts.remarks},
                 {"confidence", facts.confidence},
                 {"runs", facts.runs},
                 {"builds", facts.builds},
                 {"seconds", facts.seconds > 0 ? json(facts.seconds) : json(nullptr)},
                 {"newly_measured", json::array()},
                 {"verdicts", json::array()},
                 {"incidents", json::array()}});
  for (const auto& benchmark : facts.newly_measured) {
    object["newly_measured"].push_back(report::json_of(benchmark));
  }
  for (const auto& verdict : facts.verdicts) object["verdicts"].push_back(report::json_of(verdict));
  for (const auto& incident : facts.incidents) {
    TW_TRY(auto item, incident_json(database, incident.row));
    object["incidents"].push_back(std::move(item));
  }
  return object;
}

Outcome print(const Invocation& invocation, storage::Database& database,
              const ComparisonFacts& facts, bool all) {
  if (invocation.json) {
    TW_TRY(auto object, to_json(database, facts));
    object["schema"] = 1;
    print_json(invocation, object);
  } else if (invocation.markdown) {
    TW_TRY(const auto config, invocation.load_config());
    TW_TRY_VOID(print_page(invocation, config, database, page_of(facts.comparison)));
  } else {
    print_linked(invocation,
                 [&](auto& out) { terminal::print(out, facts, all, invocation.screen); });
  }
  return exit_status_of(facts);
}

ExitStatus exit_status_of(const ComparisonFacts& facts) {
  const auto state = facts.comparison.state;
  const bool is_broken_off = state == storage::ComparisonState::refused ||
                             state == storage::ComparisonState::failed ||
                             state == storage::ComparisonState::cancelled;
  if (is_broken_off) return ExitStatus::environment;
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(facts.verdicts, verdict, &storage::VerdictRow::verdict);
  };
  if (!facts.incidents.empty() || count(Verdict::regressed) > 0) return ExitStatus::regression;
  if (!is_end(state)) return ExitStatus::environment;
  const auto concluded = count(Verdict::unchanged) + count(Verdict::improved);
  return concluded == 0 && !facts.verdicts.empty() ? ExitStatus::no_conclusion : ExitStatus::done;
}

}  // namespace torchwatch::commands
