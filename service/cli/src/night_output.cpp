#include "night_output.hpp"

#include <algorithm>
#include <ostream>

#include "figures.hpp"
#include "torchwatch/nightly/night_summary.hpp"
#include "torchwatch/report/issue.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::cli {

using nlohmann::json;
using storage::IncidentRow;

namespace {

std::string build_text(const storage::BuildRow& build) {
  std::string text = build.name;
  if (!build.version.empty() && build.version != build.name) text += " (" + build.version;
  if (!build.trunk_commit.empty()) {
    text += (text.find('(') == std::string::npos ? " (" : ", ") + std::string("commit ") +
            build.trunk_commit.substr(0, 12);
  }
  return text.find('(') == std::string::npos ? text : text + ")";
}

json target_json(const storage::IncidentTargetRow& row) {
  const bool relative = row.ratio > 0;
  return json{{"workload", row.target.cell.workload},
              {"configuration", to_string(row.target.cell.configuration)},
              {"variant", to_string(row.target.cell.variant)},
              {"metric", to_string(row.target.metric)},
              {"ratio", relative ? json(row.ratio) : json(nullptr)},
              {"interval", relative ? json{row.interval_low, row.interval_high} : json(nullptr)},
              {"baseline_value", row.baseline_value},
              {"candidate_value", row.candidate_value}};
}

Result<json> incident_json(storage::Database& database, const IncidentRow& incident) {
  json object{{"id", incident.id},
              {"kind", to_string(incident.kind)},
              {"key", incident.key},
              {"title", incident.title},
              {"effects", json::array()}};
  for (const auto& target : incident.targets) object["effects"].push_back(target_json(target));
  if (!incident.bisection) return object;
  TW_TRY(const auto bisection, storage::BisectionStore(database).get(*incident.bisection));
  if (bisection.answer_json.empty()) return object;
  const auto answer = json::parse(bisection.answer_json, nullptr, false);
  for (const auto& [name, value] : answer.items()) {
    // The incident's own effects are the night's; the search's stand beside them.
    object[name == "effects" ? "culprit_effects" : name] = value;
  }
  return object;
}

/// What there is to say of the night as a whole; nothing where it is damaged.
std::vector<std::string> sentences_of(const storage::NightRow& night) {
  const auto summary = nightly::parse_summary(night.summary_json);
  return summary ? nightly::in_sentences(*summary) : std::vector<std::string>{};
}

void print_reasons(std::ostream& out, const char* heading, const NightOutput& output,
                   std::initializer_list<Verdict> meant) {
  bool is_first = true;
  for (const auto& row : output.verdicts) {
    if (std::ranges::find(meant, row.verdict) == meant.end()) continue;
    if (is_first) out << '\n' << heading << ":\n";
    is_first = false;
    out << "  " << to_string(row.target) << ": " << row.reason << '\n';
  }
}

/// What got better, what is undecided and could have been found, what surrounded the night.
void print_summary(std::ostream& out, const NightOutput& output) {
  print_reasons(out, "Improved", output, {Verdict::improved});
  print_reasons(out, "Undecided or failed", output, {Verdict::inconclusive, Verdict::failed});
  const auto sentences = sentences_of(output.night);
  if (!sentences.empty()) out << '\n';
  for (const auto& sentence : sentences) out << sentence << '\n';
}

}  // namespace

Result<NightOutput> gather(storage::Database& database, const storage::NightRow& night) {
  NightOutput output;
  output.night = night;
  storage::BuildStore builds(database);
  TW_TRY(output.candidate, builds.get(night.candidate));
  if (night.baseline) {
    TW_TRY(output.baseline, builds.get(*night.baseline));
  }
  TW_TRY(output.verdicts, storage::NightStore(database).verdicts_of(night.id));
  TW_TRY(output.incidents, storage::IncidentStore(database).of_night(night.id));
  return output;
}

json to_json(storage::Database& database, const NightOutput& output) {
  json object{{"nightly", output.candidate.name},
              {"baseline", output.night.baseline ? json(output.baseline.name) : json(nullptr)},
              {"reason", output.night.reason},
              {"summary", sentences_of(output.night)},
              {"verdicts", json::array()},
              {"incidents", json::array()}};
  for (const auto& verdict : output.verdicts) object["verdicts"].push_back(to_json(verdict));
  for (const auto& incident : output.incidents) {
    const auto item = incident_json(database, incident);
    if (item) object["incidents"].push_back(*item);
  }
  return object;
}

Status print(std::ostream& out, storage::Database& database, const NightOutput& output) {
  out << build_text(output.candidate);
  if (output.night.baseline) out << "\n  against " << build_text(output.baseline);
  out << "\n\n";
  if (!output.night.reason.empty()) out << output.night.reason << "\n";
  if (!output.verdicts.empty()) print_verdicts(out, output.verdicts);
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
  if (output.incidents.empty() && !output.verdicts.empty()) out << "\nNo incident.\n";
  return {};
}

ExitStatus exit_status_of(const NightOutput& output) {
  if (output.night.state == storage::NightState::refused) return ExitStatus::surroundings;
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(output.verdicts, verdict, &storage::VerdictRow::verdict);
  };
  if (!output.incidents.empty() || count(Verdict::regressed) > 0) return ExitStatus::regression;
  const auto concluded = count(Verdict::unchanged) + count(Verdict::improved);
  const auto unclear = count(Verdict::inconclusive) + count(Verdict::failed);
  return concluded == 0 && unclear > 0 ? ExitStatus::no_conclusion : ExitStatus::done;
}

}  // namespace torchwatch::cli
