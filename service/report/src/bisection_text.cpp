#include "torchwatch/report/bisection_text.hpp"

#include <fmt/format.h>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {

using nlohmann::json;

namespace {

using bisection::EventKind;

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
      return "; reverting it on the newest commit did not clearly undo the change" +
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
      return "gave up a series";
    case EventKind::level_lost:
      return "the machine changed, so earlier values of single builds count no more";
    case EventKind::reverted:
      return "built the newest commit without {0}";
  }
  return "";
}

}  // namespace

std::string verification_text(const VerificationFacts& facts) {
  return "against " + short_sha(facts.parent) + ", the commit before it that builds, " +
         figures::count(static_cast<std::size_t>(facts.pairs), "fresh pair") +
         (facts.makers.empty() ? "" : ", " + facts.makers) + revert_text(facts);
}

std::string builds_text(int builds, int made_elsewhere) {
  const auto text = figures::count(static_cast<std::size_t>(builds), "build") + " between the ends";
  if (made_elsewhere == 0) return text;
  return text + " (" + std::to_string(made_elsewhere) + " of them made elsewhere)";
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
          {"text", sentence_on(step)}};
}

}  // namespace torchwatch::report
