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

ExitStatus exit_status_of(const nightly::SearchResult& result) {
  if (result.outcome == "faulted") return ExitStatus::surroundings;
  if (result.culprit()) return ExitStatus::regression;
  return result.outcome == "did_not_reproduce" ? ExitStatus::done : ExitStatus::no_conclusion;
}

}  // namespace torchwatch::cli
