#include "torchwatch/commands/comparison_output.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "torchwatch/nightly/comparison_summary.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/terminal/verdict_table.hpp"

namespace torchwatch::commands {

using nlohmann::json;
using storage::IncidentRow;

namespace {

/// "2026-08-17 (2.14.0, commit 5d1c1c3f0a9e)".
std::string build_text(const storage::BuildRow& build) {
  std::vector<std::string> details;
  if (!build.version.empty() && build.version != build.name) details.push_back(build.version);
  if (!build.trunk_commit.empty()) details.push_back("commit " + build.trunk_commit.substr(0, 12));
  if (details.empty()) return build.name;
  return fmt::format("{} ({})", build.name, fmt::join(details, ", "));
}

Result<json> incident_json(storage::Database& database, const IncidentRow& incident) {
  auto object = report::json_of(incident);
  if (!incident.bisection) return object;
  TW_TRY(const auto bisection, storage::BisectionStore(database).get(*incident.bisection));
  if (bisection.result_json.empty()) return object;
  const auto result = report::embedded(bisection.result_json);
  for (const auto& [name, value] : result.items()) {
    // The incident's own effects are the comparison's; those of the bisection stand beside them.
    object[name == "effects" ? "culprit_effects" : name] = value;
  }
  return object;
}

/// The remarks on the comparison as a whole; none where they are damaged.
std::vector<std::string> sentences_of(const storage::ComparisonRow& comparison) {
  const auto summary = nightly::parse_summary(comparison.summary_json);
  return summary ? nightly::in_sentences(*summary) : std::vector<std::string>{};
}

void print_reasons(std::ostream& out, const char* heading, const ComparisonOutput& output,
                   std::initializer_list<Verdict> meant) {
  bool is_first = true;
  for (const auto& row : output.verdicts) {
    if (std::ranges::find(meant, row.verdict) == meant.end()) continue;
    if (is_first) out << '\n' << heading << ":\n";
    is_first = false;
    out << "  " << to_string(row.series) << ": " << row.reason << '\n';
  }
}

/// What improved, what is undecided and could have been found, remarks on the comparison.
void print_summary(std::ostream& out, const ComparisonOutput& output) {
  print_reasons(out, "Improved", output, {Verdict::improved});
  print_reasons(out, "Undecided or failed", output, {Verdict::inconclusive, Verdict::failed});
  const auto sentences = sentences_of(output.comparison);
  if (!sentences.empty()) out << '\n';
  for (const auto& sentence : sentences) out << sentence << '\n';
}

}  // namespace

Result<ComparisonOutput> gather(comparison::Services& services,
                                const storage::ComparisonRow& comparison) {
  return gather(services.database, services.config.detect.confidence, comparison);
}

Result<ComparisonOutput> gather(storage::Database& database, double confidence,
                                const storage::ComparisonRow& comparison) {
  ComparisonOutput output;
  output.confidence = confidence;
  output.comparison = comparison;
  storage::BuildStore builds(database);
  TW_TRY(output.candidate, builds.get(comparison.candidate));
  if (comparison.baseline) {
    TW_TRY(output.baseline, builds.get(*comparison.baseline));
  }
  TW_TRY(output.verdicts, storage::ComparisonStore(database).verdicts_of(comparison.id));
  TW_TRY(output.incidents, storage::IncidentStore(database).of_comparison(comparison.id));
  return output;
}

json to_json(storage::Database& database, const ComparisonOutput& output) {
  json object{{"nightly", output.candidate.name},
              {"baseline", output.comparison.baseline ? json(output.baseline.name) : json(nullptr)},
              {"reason", output.comparison.reason},
              {"summary", sentences_of(output.comparison)},
              {"verdicts", json::array()},
              {"incidents", json::array()}};
  for (const auto& verdict : output.verdicts)
    object["verdicts"].push_back(report::json_of(verdict));
  for (const auto& incident : output.incidents) {
    const auto item = incident_json(database, incident);
    if (item) object["incidents"].push_back(*item);
  }
  return object;
}

Status print(std::ostream& out, storage::Database& database, const ComparisonOutput& output) {
  out << build_text(output.candidate);
  if (output.comparison.baseline) out << "\n  compared with " << build_text(output.baseline);
  out << "\n\n";
  if (!output.comparison.reason.empty()) out << output.comparison.reason << "\n";
  if (!output.verdicts.empty()) terminal::print_verdicts(out, output.verdicts, output.confidence);
  print_summary(out, output);
  storage::IncidentStore store(database);
  for (const auto& incident : output.incidents) {
    TW_TRY(const auto messages, store.outbox_of(incident.id));
    for (const auto& message : messages) {
      const bool filed = message.state == storage::OutboxState::sent;
      out << "\n"
          << std::string(78, '=') << "\n"
          << (filed ? "Filed as issue #" + std::to_string(message.issue_number.value_or(0))
                    : std::string("In the outbox, to be filed once [github] is configured"))
          << "\n"
          << std::string(78, '=') << "\n# " << message.title << "\n\n"
          << message.body << "\n";
    }
  }
  const bool is_quiet = output.incidents.empty() && !output.verdicts.empty();
  if (is_quiet && output.comparison.opens_incidents) out << "\nNo incident.\n";
  return {};
}

ExitStatus exit_status_of(const ComparisonOutput& output) {
  const auto state = output.comparison.state;
  const bool is_broken_off = state == storage::ComparisonState::refused ||
                             state == storage::ComparisonState::failed ||
                             state == storage::ComparisonState::cancelled;
  if (is_broken_off || !is_end(state)) return ExitStatus::environment;
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(output.verdicts, verdict, &storage::VerdictRow::verdict);
  };
  if (!output.incidents.empty() || count(Verdict::regressed) > 0) return ExitStatus::regression;
  const auto concluded = count(Verdict::unchanged) + count(Verdict::improved);
  const auto unclear = count(Verdict::inconclusive) + count(Verdict::failed);
  return concluded == 0 && unclear > 0 ? ExitStatus::no_conclusion : ExitStatus::done;
}

}  // namespace torchwatch::commands
