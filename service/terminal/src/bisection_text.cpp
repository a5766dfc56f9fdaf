#include "torchwatch/terminal/bisection_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <ostream>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using bisection::TraceStep;
using report::short_sha;

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
    const auto facts = bisection::effect_facts(effect);
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
  const bool is_one = culprit.commits.size() == 1;
  out << painted(is_one ? "Culprit" : "Could not decide between these",
                 is_one ? Tone::bad : Tone::doubtful, screen)
      << " (" << figures::confidence(culprit.confidence) << " sure):\n";
  print_commits(out, culprit.commits, history, screen);
  if (!culprit.verified.empty()) {
    out << wrapped("Verified " + culprit.verified + ".", screen.columns, 2);
  }
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
  const auto culprit = result.culprit();
  if (!culprit) return "";
  if (*culprit == suspect) {
    return fmt::format("Yes: {} changed {}.", short_sha(suspect),
                       series_of(result.leading()->effects));
  }
  return fmt::format("No: not {}, but {} made the change.", short_sha(suspect),
                     short_sha(*culprit));
}

std::string count(int number, std::string_view noun) {
  return figures::count(static_cast<std::size_t>(number), noun);
}

void print_cost(std::ostream& out, const bisection::BisectionResult& result, const Screen& screen) {
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

struct Words {
  std::string_view of;
  std::string_view said;  ///< {0}: the commit, {1}: what it was compared with
};
constexpr std::array kMeasured{
    Words{"verify_ends", "measured both ends again, {0} against {1}"},
    Words{"probe", "measured {0} against {1}"},
    Words{"verify_culprit",
          "measured the culprit {0} against {1}, the commit before it that builds"},
    Words{"look_for_more", "looked for another cause, {0} against {1}"},
};
constexpr std::array kHappened{
    Words{"built", "built {0}"},
    Words{"unbuildable", "{0} cannot be built"},
    Words{"same_library",
          "{0} gives the same library as {1}, so neither can be told from the other"},
    Words{"series_lost", "gave up a series"},
    Words{"level_lost", "the machine changed, so earlier values of single builds count no more"},
    Words{"reverted", "built the newest commit without {0}"},
};

std::string what_happened(const TraceStep& step) {
  const auto commit = short_sha(step.commit);
  const auto other = short_sha(step.against);
  if (step.kind == "measured_alone") return "measured " + commit + " alone";
  const auto said = [&](const auto& words, const std::string& key) {
    for (const auto& each : words) {
      if (each.of == key) return fmt::format(fmt::runtime(each.said), commit, other);
    }
    return key;
  };
  return step.kind == "measured" ? said(kMeasured, step.purpose) : said(kHappened, step.kind);
}

}  // namespace

Cause cause_of(const bisection::BisectionResult& result, const bisect::CommitHistory* history) {
  const auto* leading = result.leading();
  if (leading == nullptr && result.suspects.empty()) return {};
  if (leading != nullptr && leading->commits.size() == 1) {
    return {commit_text(leading->commits.front(), history), leading->confidence};
  }
  const auto size = leading != nullptr ? leading->commits.size() : result.suspects.size();
  return {"one of " + figures::count(size, "commit"),
          leading != nullptr ? leading->confidence : result.suspects_confidence};
}

void print(std::ostream& out, const bisection::BisectionResult& result,
           const bisect::CommitHistory* history, const AskedCommits& asked, const Screen& screen) {
  const auto answer = asked.suspect.empty() ? "" : answer_on(asked.suspect, result);
  if (!answer.empty()) out << wrapped(answer, screen.columns) << '\n';
  for (const auto& culprit : result.culprits) print_culprit(out, culprit, history, screen);
  if (!result.suspects.empty()) {
    out << painted("Could not decide between these", Tone::doubtful, screen) << " ("
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

std::string sentence_on(const TraceStep& step) {
  auto text = what_happened(step);
  if (!step.reason.empty()) text += ": " + step.reason;
  for (std::size_t i = 0; i < step.readings.size(); ++i) {
    const auto& [series, effect, readings] = step.readings[i];
    const auto change =
        report::change_text(bisection::effect_facts({.series = series, .effect = effect}));
    text += fmt::format("{}{} {} ({})", i == 0 ? ": " : "; ", to_string(series),
                        change.empty() ? "no change" : change,
                        count(readings, step.kind == "measured_alone" ? "run" : "pair"));
  }
  if (step.probability > 0) {
    text += fmt::format("; {} sure that the cause lies after {} and up to {}",
                        figures::confidence(step.probability), short_sha(step.after),
                        short_sha(step.up_to));
  }
  return text;
}

nlohmann::json to_json(const bisection::TraceStep& step) {
  using report::text_or_null;
  auto readings = nlohmann::json::array();
  for (const auto& reading : step.readings) {
    auto object = report::json_of(reading.series);
    if (bisection::is_relative(reading.series.metric)) object["unit"] = "log ratio";
    object["effect"] = reading.effect;
    object["readings"] = reading.readings;
    readings.push_back(std::move(object));
  }
  const bool has_belief = step.probability > 0;
  return {{"kind", step.kind},
          {"purpose", text_or_null(step.purpose)},
          {"commit", text_or_null(step.commit)},
          {"against", text_or_null(step.against)},
          {"readings", readings},
          {"reason", text_or_null(step.reason)},
          {"after", text_or_null(step.after)},
          {"up_to", text_or_null(step.up_to)},
          {"probability", has_belief ? nlohmann::json(step.probability) : nullptr},
          {"text", sentence_on(step)}};
}

void print(std::ostream& out, const std::vector<TraceStep>& steps, const Screen& screen) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out << wrapped(fmt::format("{:>4}. {}", i + 1, sentence_on(steps[i])), screen.columns, 6);
  }
}

}  // namespace torchwatch::terminal
