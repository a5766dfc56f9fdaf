#include <fmt/format.h>

#include <array>
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
  const auto commit = report::short_sha(step.commit);
  const auto other = report::short_sha(step.against);
  if (step.kind == "measured_alone") return "measured " + commit + " alone";
  if (step.kind == "built" && !step.purpose.empty()) return "built " + commit + ", the bad end";
  const auto said = [&](const auto& words, const std::string& key) {
    for (const auto& each : words) {
      if (each.of == key) return fmt::format(fmt::runtime(each.said), commit, other);
    }
    return key;
  };
  return step.kind == "measured" ? said(kMeasured, step.purpose) : said(kHappened, step.kind);
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
  return {{"kind", step.kind},
          {"purpose", text_or_null(step.purpose)},
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
  auto text = what_happened(step);
  if (!step.reason.empty()) text += ": " + step.reason;
  for (std::size_t i = 0; i < step.readings.size(); ++i) {
    const auto& [series, effect, readings] = step.readings[i];
    const auto change =
        report::change_text(report::effect_of(SeriesEffect{.series = series, .effect = effect}));
    text += fmt::format("{}{} {} ({})", i == 0 ? ": " : "; ", to_string(series),
                        change.empty() ? "no change" : change,
                        figures::count(static_cast<std::size_t>(readings),
                                       step.kind == "measured_alone" ? "run" : "pair"));
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
