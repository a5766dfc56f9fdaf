#include "search_output.hpp"

#include <cmath>
#include <ostream>

#include "figures.hpp"
#include "table.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/report/issue.hpp"

namespace torchwatch::cli {
namespace {

std::string commit_line(const std::string& sha, const bisect::CommitHistory* history) {
  auto line = sha.substr(0, 12);
  if (history == nullptr) return line;
  const auto commit = history->commit(sha);
  return commit ? line + "  " + commit->subject : line;
}

void print_effects(std::ostream& out, const std::vector<nightly::TargetEffect>& effects) {
  using Align = Table::Align;
  Table table({{"  series"},
               {"change", Align::right},
               {"99 % interval, %", Align::right},
               {"pairs", Align::right}});
  for (const auto& effect : effects) {
    const auto metric = effect.target.metric;
    const bool relative = nightly::is_relative(metric);
    table.add(
        {"  " + to_string(effect.target),
         relative ? percent(std::exp(effect.effect)) : report::human_value(metric, effect.effect),
         relative ? percent_interval(std::exp(effect.low), std::exp(effect.high)) : "",
         std::to_string(effect.pairs)});
  }
  if (!table.empty()) table.print(out);
}

std::string short_sha(const std::string& sha) {
  return sha.substr(0, 12);
}

std::string change_text(const nightly::CourseReading& reading) {
  const auto metric = reading.target.metric;
  const auto change = nightly::is_relative(metric) ? percent(std::exp(reading.effect))
                                                   : report::human_value(metric, reading.effect);
  return to_string(reading.target) + " " + change + " (" + std::to_string(reading.readings) + ")";
}

std::string result_text(const nightly::CourseStep& step) {
  std::string text = step.reason;
  for (const auto& reading : step.readings) {
    text += (text.empty() ? "" : "; ") + change_text(reading);
  }
  return text;
}

std::string sureness(double confidence) {
  return decimal("%.1f %%", 100 * confidence);
}

void print_culprit(std::ostream& out, const nightly::CulpritFinding& culprit,
                   const bisect::CommitHistory* history) {
  out << (culprit.commits.size() == 1 ? "Culprit" : "Could not tell, between these")
      << " (confidence " << sureness(culprit.confidence) << "):\n";
  for (const auto& sha : culprit.commits) out << "  " << commit_line(sha, history) << "\n";
  out << "verified " << culprit.verified << "\n";
  print_effects(out, culprit.effects);
}

}  // namespace

void print(std::ostream& out, const nightly::SearchResult& result,
           const bisect::CommitHistory* history) {
  for (const auto& culprit : result.culprits) {
    print_culprit(out, culprit, history);
    out << '\n';
  }
  if (!result.suspects.empty()) {
    out << "Could not tell, between these (together " << sureness(result.suspects_confidence)
        << "):\n";
    for (const auto& sha : result.suspects) out << "  " << commit_line(sha, history) << "\n";
    out << '\n';
  }
  if (result.culprits.empty() && !result.ends.empty()) {
    out << "Bad end against good end:\n";
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

void print(std::ostream& out, const std::vector<nightly::CourseStep>& steps) {
  Table table({{"step"}, {"commit"}, {"against"}, {"change (readings)"}, {"then likeliest"}});
  for (const auto& step : steps) {
    const bool alone = step.kind == "measured_alone";
    table.add({step.purpose.empty() ? step.kind : step.purpose, short_sha(step.commit),
               alone ? "alone" : short_sha(step.against), result_text(step),
               step.probability > 0 ? short_sha(step.after) + ".." + short_sha(step.up_to) + " " +
                                          sureness(step.probability)
                                    : ""});
  }
  if (!table.empty()) table.print(out);
}

nlohmann::json to_json(const nightly::CourseStep& step) {
  auto readings = nlohmann::json::array();
  for (const auto& reading : step.readings) {
    readings.push_back({{"target", to_string(reading.target)},
                        {"effect", reading.effect},
                        {"readings", reading.readings}});
  }
  return {{"kind", step.kind},       {"purpose", step.purpose}, {"commit", step.commit},
          {"against", step.against}, {"readings", readings},    {"reason", step.reason},
          {"after", step.after},     {"up_to", step.up_to},     {"probability", step.probability}};
}

ExitStatus exit_status_of(const nightly::SearchResult& result) {
  if (result.outcome == "faulted") return ExitStatus::surroundings;
  if (result.culprit()) return ExitStatus::regression;
  return result.outcome == "did_not_reproduce" ? ExitStatus::done : ExitStatus::no_conclusion;
}

}  // namespace torchwatch::cli
