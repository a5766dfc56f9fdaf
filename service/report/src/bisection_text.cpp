#include "torchwatch/report/bisection_text.hpp"

#include <fmt/format.h>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {

using nlohmann::json;

namespace {

using bisection::EventKind;
using bisection::RevertOutcome;

std::string revert_figure(const VerificationFacts& facts) {
  return facts.revert_change.empty() ? "" : " (with the commit: " + facts.revert_change + ")";
}

std::string revert_text(const VerificationFacts& facts) {
  switch (facts.revert) {
    case RevertOutcome::not_tried:
      return "";
    case RevertOutcome::impossible:
      return "; reverting it on the newest commit was not possible (" + facts.revert_problem + ")";
    case RevertOutcome::change_gone:
      return "; reverting it on the newest commit undoes the change" + revert_figure(facts);
    case RevertOutcome::change_stays:
      return "; reverting it on the newest commit leaves the change" + revert_figure(facts);
    case RevertOutcome::inconclusive:
      return "; reverting it on the newest commit was " + facts.revert_problem +
             revert_figure(facts);
  }
  return "";
}

// Sentences: {0} is the commit, {1} what it was compared with.

std::string_view said_of(bisect::Purpose purpose) {
  switch (purpose) {
    case bisect::Purpose::verify_ends:
      return "measured both ends again, {0} against {1}";
    case bisect::Purpose::probe:
      return "measured {0} against {1}";
    case bisect::Purpose::verify_culprit:
      return "measured the culprit {0} against {1}, the commit before it that builds";
    case bisect::Purpose::look_for_more:
      return "looked for another cause, {0} against {1}";
  }
  return "";
}

std::string_view said_of(const TraceStep& step) {
  switch (step.kind) {
    case EventKind::weighed:
      return "weighed the commits by the folders that they change";
    case EventKind::measured:
      return said_of(step.purpose.value_or(bisect::Purpose::probe));
    case EventKind::measured_alone:
      return "measured {0} alone";
    case EventKind::built:
      if (step.is_good_end) return "built {0}, the good end";
      return step.purpose ? "built {0}, the bad end" : "built {0}";
    case EventKind::unbuildable:
      return "{0} cannot be built";
    case EventKind::set_aside:
      return "set the build of {0} aside";
    case EventKind::same_library:
      return "{0} gives the same library as {1}, so neither can be told from the other";
    case EventKind::series_lost:
      return step.commit.empty() ? "gave up a series" : "measured a series of {0} no more";
    case EventKind::level_lost:
      return "the machine changed, so earlier values of single builds count no more";
    case EventKind::reverted:
      return "built the newest commit without {0}";
  }
  return "";
}

/// "0.61 bits for 2 runs and a build".
std::string worth_text(const bisect::ProbeWorth& worth) {
  auto text = fmt::format("{:.2f} bits for {}", worth.bits,
                          figures::count(static_cast<std::size_t>(worth.runs), "run"));
  if (worth.builds > 0) {
    text += worth.builds == 1 ? " and a build" : fmt::format(" and {} builds", worth.builds);
  }
  if (worth.builds > 0 && worth.chance < 1) {
    text += " that succeeds with " + figures::share(worth.chance);
  }
  return text;
}

std::string sentence_on_probe(const StepReason& why) {
  const auto& [chosen, build_cost, most_even] = *why.probe;
  auto text = fmt::format("with {} the culprit is this commit or an earlier one, and {}",
                          figures::share(chosen.bad),
                          chosen.builds == 0 ? "it is built" : "it must be built first");
  if (chosen.bits > 0) text += "; it tells the most for its cost, about " + worth_text(chosen);
  if (!most_even) return text + "; no other commit splits what is left more evenly";
  text += fmt::format("; the most even split, {} with {}, ",
                      why.most_even.empty() ? "a commit without a build" : short_sha(why.most_even),
                      figures::share(most_even->bad));
  text += most_even->bits > 0 ? "would tell " + worth_text(*most_even)
                              : std::string("has nothing left to tell that is worth its runs");
  const bool counts_builds = chosen.builds > 0 || most_even->builds > 0;
  return counts_builds ? text + fmt::format(" (a build counts as {:.0f} runs)", build_cost) : text;
}

}  // namespace

std::string sentence_on(const StepReason& why) {
  if (why.is_beside) {
    return "several are built at once, so that they cut what is left into equal parts";
  }
  switch (why.purpose) {
    case bisect::Purpose::verify_ends:
      return "all that follows rests on the difference between the ends";
    case bisect::Purpose::probe:
      return why.probe ? sentence_on_probe(why) : "";
    case bisect::Purpose::verify_culprit:
      return why.mass > 0
                 ? figures::confidence(why.mass) +
                       " sure of it, and then nothing tells more than to compare the two directly"
                 : "what the culprit changed is measured against the commit before it";
    case bisect::Purpose::look_for_more:
      return "what was found leaves open whether there is another cause here";
  }
  return "";
}

std::string sentence_on(const SearchOutlook& outlook) {
  if (!outlook.next) return "Next the search ends: nothing is left to measure.";
  const auto& next = *outlook.next;
  const auto name = [&](const std::string& sha) {
    if (!sha.empty()) return short_sha(sha);
    return fmt::format("commit {} of the {} that can have the culprit", next.place.value_or(0) + 1,
                       outlook.commits);
  };
  auto text =
      "Next: " + std::string(outlook.needs_build ? "build and " : "") + "measure " +
      name(next.commit) +
      (next.kind == EventKind::measured_alone ? " alone" : " against " + name(next.against));
  if (next.why) text += ". Why: " + sentence_on(*next.why);
  return text + ".";
}

std::string verification_text(const VerificationFacts& facts) {
  return "against " + short_sha(facts.parent) + ", the commit before it that builds, " +
         figures::count(static_cast<std::size_t>(facts.pairs),
                        facts.are_fresh ? "fresh pair" : "pair") +
         (facts.makers.empty() ? "" : ", " + facts.makers) + revert_text(facts);
}

std::string builds_text(int builds, int made_elsewhere) {
  const auto text = figures::count(static_cast<std::size_t>(builds), "build") + " between the ends";
  if (made_elsewhere == 0) return text;
  return text + " (" + std::to_string(made_elsewhere) + " of them made elsewhere)";
}

std::string unread_text(const SearchReplay& replay, const storage::BisectionRow& row) {
  if (!replay.damage) return "";
  const auto count = replay.steps.size();
  const bool is_open = row.state == storage::BisectionState::open;
  return (count == 0
              ? std::string("Its steps cannot be read")
              : "Only its first " + (count == 1 ? "step" : std::to_string(count) + " steps") +
                    " can be read") +
         (is_open ? ", and not what comes next" : "") + ": `torchwatch bisection show " +
         std::to_string(row.id) + "` says why";
}

std::string sentence_on(const TraceStep& step) {
  auto text =
      fmt::format(fmt::runtime(said_of(step)), short_sha(step.commit), short_sha(step.against));
  if (!step.reason.empty()) text += ": " + step.reason;
  for (std::size_t i = 0; i < step.readings.size(); ++i) {
    const auto& [series, effect, readings] = step.readings[i];
    const auto change =
        change_text(effect_of(bisection::SeriesEffect{.series = series, .effect = effect}));
    text += fmt::format("{}{} {} ({})", i == 0 ? ": " : "; ", to_string(series),
                        change.empty() ? "no change" : change,
                        figures::count(static_cast<std::size_t>(readings),
                                       step.kind == EventKind::measured_alone ? "run" : "pair"));
  }
  if (step.probability > 0) {
    text += fmt::format("; {} sure that the cause lies after {} and up to {}",
                        figures::confidence(step.probability), short_sha(step.after),
                        short_sha(step.up_to));
  }
  return text;
}

json json_of(const TraceStep& step) {
  auto readings = json::array();
  for (const auto& reading : step.readings) {
    auto object = json_of(reading.series);
    if (bisection::is_relative(reading.series.metric)) object["unit"] = "log ratio";
    object["effect"] = reading.effect;
    object["readings"] = reading.readings;
    readings.push_back(std::move(object));
  }
  return {{"kind", spelling(step.kind)},
          {"purpose", step.purpose ? json(spelling(*step.purpose)) : nullptr},
          {"commit", text_or_null(step.commit)},
          {"against", text_or_null(step.against)},
          {"readings", readings},
          {"reason", text_or_null(step.reason)},
          {"after", text_or_null(step.after)},
          {"up_to", text_or_null(step.up_to)},
          {"probability", step.probability > 0 ? json(step.probability) : nullptr},
          {"why", text_or_null(step.why ? sentence_on(*step.why) : "")},
          {"text", sentence_on(step)}};
}

}  // namespace torchwatch::report
