#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::bisection {

using nlohmann::json;

namespace {

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
      return step.purpose ? "built {0}, the bad end" : "built {0}";
    case EventKind::unbuildable:
      return "{0} cannot be built";
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

json step_json(const TraceStep& step) {
  using report::text_or_null;
  auto readings = json::array();
  for (const auto& reading : step.readings) {
    auto object = report::json_of(reading.series);
    if (is_relative(reading.series.metric)) object["unit"] = "log ratio";
    object["effect"] = reading.effect;
    object["readings"] = reading.readings;
    readings.push_back(std::move(object));
  }
  const bool has_belief = step.probability > 0;
  return {{"kind", spelling(step.kind)},
          {"purpose", step.purpose ? json(spelling(*step.purpose)) : nullptr},
          {"commit", text_or_null(step.commit)},
          {"against", text_or_null(step.against)},
          {"readings", readings},
          {"reason", text_or_null(step.reason)},
          {"after", text_or_null(step.after)},
          {"up_to", text_or_null(step.up_to)},
          {"probability", has_belief ? json(step.probability) : nullptr},
          {"text", sentence_on(step)}};
}

}  // namespace

std::string sentence_on(const TraceStep& step) {
  auto text = fmt::format(fmt::runtime(said_of(step)), report::short_sha(step.commit),
                          report::short_sha(step.against));
  if (!step.reason.empty()) text += ": " + step.reason;
  for (std::size_t i = 0; i < step.readings.size(); ++i) {
    const auto& [series, effect, readings] = step.readings[i];
    const auto change =
        report::change_text(report::effect_of(SeriesEffect{.series = series, .effect = effect}));
    text += fmt::format("{}{} {} ({})", i == 0 ? ": " : "; ", to_string(series),
                        change.empty() ? "no change" : change,
                        figures::count(static_cast<std::size_t>(readings),
                                       step.kind == EventKind::measured_alone ? "run" : "pair"));
  }
  if (step.probability > 0) {
    text += fmt::format("; {} sure that the cause lies after {} and up to {}",
                        figures::confidence(step.probability), report::short_sha(step.after),
                        report::short_sha(step.up_to));
  }
  return text;
}

json to_json(const std::vector<TraceStep>& steps) {
  auto array = json::array();
  for (const auto& step : steps) array.push_back(step_json(step));
  return array;
}

Result<json> trace_json(storage::Database& database, const storage::BisectionRow& row) {
  TW_TRY(const auto events, storage::BisectionStore(database).events_of(row.id));
  TW_TRY(const auto steps, trace_of(row, events));
  return to_json(steps);
}

}  // namespace torchwatch::bisection
