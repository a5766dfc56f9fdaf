#include "torchwatch/terminal/bisection_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using report::TraceStep;

std::string commit_text(const std::string& sha, const bisect::CommitHistory* history) {
  auto text = short_sha(sha);
  if (history == nullptr) return text;
  const auto commit = history->commit(sha);
  return commit ? text + " " + commit->subject : text;
}

void print_effects(std::ostream& out, const std::vector<bisection::SeriesEffect>& effects,
                   const Screen& screen) {
  using Align = Table::Align;
  Table table({{"series"},
               {"change", Align::right},
               {report::interval_heading(report::kBisectionIntervalConfidence), Align::right, 2},
               {"pairs", Align::right, 1}},
              2);
  for (const auto& effect : effects) {
    const auto facts = report::effect_of(effect);
    table.add({to_string(effect.series), report::change_text(facts), report::interval_text(facts),
               std::to_string(effect.pairs)});
  }
  if (!table.empty()) table.print(out, screen);
}

void print_commits(std::ostream& out, const std::vector<std::string>& shas,
                   const bisect::CommitHistory* history, const Screen& screen) {
  for (const auto& sha : shas) out << wrapped("  " + commit_text(sha, history), screen.columns, 4);
}

void print_culprit(std::ostream& out, const bisection::NamedCulprit& culprit,
                   const bisect::CommitHistory* history, const Screen& screen) {
  const auto finding = report::finding_of(culprit);
  const auto doubt = report::doubt_text(culprit.revert);
  const bool is_stated = report::cause_of(culprit).confidence > 0;
  out << painted(report::heading_of(finding),
                 finding == report::Finding::set ? Tone::doubtful : Tone::bad, screen)
      << (is_stated ? " (" + figures::confidence(culprit.confidence) + " sure):\n" : ":\n");
  print_commits(out, culprit.commits, history, screen);
  if (!culprit.verified.empty()) {
    out << wrapped("Verified " + culprit.verified + ".", screen.columns, 2);
  }
  if (!doubt.empty()) out << wrapped(std::string(doubt), screen.columns, 2);
  print_effects(out, culprit.effects, screen);
  out << '\n';
}

/// The series that a suspect was asked about.
std::string series_of(const std::vector<bisection::SeriesEffect>& effects) {
  std::vector<std::string> names;
  for (const auto& effect : effects) names.push_back(to_string(effect.series));
  return names.empty() ? "any series" : fmt::format("{}", fmt::join(names, ", "));
}

/// Answers the question that a suspect is; empty if it was not decided.
std::string answer_on(const std::string& suspect, const bisection::BisectionResult& result) {
  if (result.outcome == bisection::BisectionOutcome::did_not_reproduce) {
    return fmt::format("No: {} did not change {}.", short_sha(suspect), series_of(result.ends));
  }
  for (const auto& culprit : result.culprits) {
    if (culprit.commits != std::vector{suspect}) continue;
    return fmt::format("Yes: {} changed {}.", short_sha(suspect), series_of(culprit.effects));
  }
  const auto culprit = result.culprit();
  if (!culprit) return "";
  const auto finding = report::finding_of(*result.leading());
  return fmt::format("No: not {}, but {}.", short_sha(suspect),
                     report::claim_text(finding, short_sha(*culprit), "the change"));
}

std::string count(int number, std::string_view noun) {
  return figures::count(static_cast<std::size_t>(number), noun);
}

void print_cost(std::ostream& out, const bisection::BisectionResult& result, const Screen& screen) {
  // A search that was cancelled, or failed, has not counted what it did: its steps say that.
  const bool ended_early = result.outcome == bisection::BisectionOutcome::faulted ||
                           result.outcome == bisection::BisectionOutcome::partly_found;
  if (ended_early && result.commits == 0) return;
  auto text = count(result.commits, "commit");
  if (result.folded > 0) {
    text += fmt::format(", {} of which cannot change the library", result.folded);
  }
  text += ", " + report::builds_text(result.builds, result.made_elsewhere) + ", " +
          count(result.runs, "run") + ".";
  out << wrapped(text, screen.columns);
  for (const auto& skipped : result.skipped) {
    out << wrapped("Not measured: " + short_sha(skipped.commit) + ", " + skipped.reason,
                   screen.columns, 2);
  }
}

}  // namespace

Cause cause_of(const bisection::BisectionResult& result, const bisect::CommitHistory* history) {
  const auto* leading = result.leading();
  if (leading == nullptr && result.suspects.empty()) return {};
  const auto& commits = leading != nullptr ? leading->commits : result.suspects;
  const auto others = result.culprits.size() + (result.suspects.empty() ? 0 : 1) - 1;
  Cause cause;
  cause.culprit = commits.size() == 1 ? commit_text(commits.front(), history)
                                      : report::one_of_text(commits.size());
  const bool is_doubtful = leading != nullptr && !report::doubt_text(leading->revert).empty();
  if (is_doubtful) cause.culprit += fmt::format(" ({})", report::kInDoubt);
  if (others > 0) cause.culprit += " and " + figures::count(others, "more cause");
  cause.confidence =
      leading != nullptr ? report::cause_of(*leading).confidence : result.suspects_confidence;
  return cause;
}

void print(std::ostream& out, const bisection::BisectionResult& result,
           const bisect::CommitHistory* history, const AskedCommits& asked, const Screen& screen) {
  const auto answer = asked.suspect.empty() ? "" : answer_on(asked.suspect, result);
  if (!answer.empty()) out << wrapped(answer, screen.columns) << '\n';
  for (const auto& culprit : result.culprits) print_culprit(out, culprit, history, screen);
  if (!result.suspects.empty()) {
    out << painted(report::heading_of(report::Finding::set), Tone::doubtful, screen) << " ("
        << figures::confidence(result.suspects_confidence) << " sure that it is one of them):\n";
    print_commits(out, result.suspects, history, screen);
    out << '\n';
  }
  if (result.culprits.empty() && !result.ends.empty()) {
    out << asked.bad << " compared with " << asked.good << ":\n";
    print_effects(out, result.ends, screen);
    out << '\n';
  }
  // The answer on a suspect says what the reason would.
  if (!result.reason.empty() && answer.empty()) out << wrapped(result.reason, screen.columns);
  print_cost(out, result, screen);
}

void print(std::ostream& out, const std::vector<TraceStep>& steps, const Screen& screen) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out << wrapped(fmt::format("{:>4}. {}", i + 1, sentence_on(steps[i])), screen.columns, 6);
  }
}

}  // namespace torchwatch::terminal
