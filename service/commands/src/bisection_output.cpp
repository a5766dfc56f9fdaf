#include "torchwatch/commands/bisection_output.hpp"

#include <fmt/format.h>

#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/nightly/incident_facts.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {
namespace {

std::string commit_line(const std::string& sha, const bisect::CommitHistory* history) {
  auto line = sha.substr(0, 12);
  if (history == nullptr) return line;
  const auto commit = history->commit(sha);
  return commit ? line + "  " + commit->subject : line;
}

void print_effects(std::ostream& out, const std::vector<bisection::SeriesEffect>& effects) {
  using Align = terminal::Table::Align;
  terminal::Table table(
      {{"  series"},
       {"change", Align::right},
       {report::interval_heading(report::kBisectionIntervalConfidence), Align::right},
       {"pairs", Align::right}});
  for (const auto& effect : effects) {
    const auto facts = nightly::effect_facts(effect);
    table.add({"  " + to_string(effect.series), report::change_text(facts),
               report::interval_text(facts), std::to_string(effect.pairs)});
  }
  if (!table.empty()) table.print(out);
}

std::string short_sha(const std::string& sha) {
  return sha.substr(0, 12);
}

std::string change_text(const bisection::TraceReading& reading) {
  const auto facts = nightly::effect_facts({.series = reading.series, .effect = reading.effect});
  return fmt::format("{} {} ({})", to_string(reading.series), report::change_text(facts),
                     reading.readings);
}

std::string result_text(const bisection::TraceStep& step) {
  std::string text = step.reason;
  for (const auto& reading : step.readings) {
    text += (text.empty() ? "" : "; ") + change_text(reading);
  }
  return text;
}

void print_culprit(std::ostream& out, const bisection::NamedCulprit& culprit,
                   const bisect::CommitHistory* history) {
  out << (culprit.commits.size() == 1 ? "Culprit" : "Could not decide between these")
      << " (confidence " << figures::confidence(culprit.confidence) << "):\n";
  for (const auto& sha : culprit.commits) out << "  " << commit_line(sha, history) << "\n";
  out << "verified " << culprit.verified << "\n";
  print_effects(out, culprit.effects);
}

}  // namespace

void print(std::ostream& out, const bisection::BisectionResult& result,
           const bisect::CommitHistory* history) {
  for (const auto& culprit : result.culprits) {
    print_culprit(out, culprit, history);
    out << '\n';
  }
  if (!result.suspects.empty()) {
    out << "Could not decide between these (together "
        << figures::confidence(result.suspects_confidence) << "):\n";
    for (const auto& sha : result.suspects) out << "  " << commit_line(sha, history) << "\n";
    out << '\n';
  }
  if (result.culprits.empty() && !result.ends.empty()) {
    out << "Bad end compared with good end:\n";
    print_effects(out, result.ends);
    out << '\n';
  }
  if (!result.reason.empty()) out << result.reason << "\n";
  out << result.commits << " commits, " << result.folded << " that cannot change the library, "
      << result.builds << " builds, " << result.runs << " runs\n";
  for (const auto& skipped : result.skipped) {
    out << "skipped " << skipped.commit.substr(0, 12) << ": " << skipped.reason << "\n";
  }
}

void print(std::ostream& out, const std::vector<bisection::TraceStep>& steps) {
  terminal::Table table(
      {{"step"}, {"commit"}, {"compared with"}, {"change (readings)"}, {"likeliest after it"}});
  for (const auto& step : steps) {
    const bool alone = step.kind == "measured_alone";
    table.add({step.purpose.empty() ? step.kind : step.purpose, short_sha(step.commit),
               alone ? "alone" : short_sha(step.against), result_text(step),
               step.probability > 0 ? short_sha(step.after) + ".." + short_sha(step.up_to) + " " +
                                          figures::confidence(step.probability)
                                    : ""});
  }
  if (!table.empty()) table.print(out);
}

nlohmann::json to_json(const bisection::TraceStep& step) {
  auto readings = nlohmann::json::array();
  for (const auto& reading : step.readings) {
    readings.push_back({{"series", to_string(reading.series)},
                        {"effect", reading.effect},
                        {"readings", reading.readings}});
  }
  return {{"kind", step.kind},       {"purpose", step.purpose}, {"commit", step.commit},
          {"against", step.against}, {"readings", readings},    {"reason", step.reason},
          {"after", step.after},     {"up_to", step.up_to},     {"probability", step.probability}};
}

ExitStatus exit_status_of(const bisection::BisectionResult& result) {
  using bisection::BisectionOutcome;
  if (result.outcome == BisectionOutcome::faulted) return ExitStatus::environment;
  if (result.culprit()) return ExitStatus::regression;
  return result.outcome == BisectionOutcome::did_not_reproduce ? ExitStatus::done
                                                               : ExitStatus::no_conclusion;
}

}  // namespace torchwatch::commands
