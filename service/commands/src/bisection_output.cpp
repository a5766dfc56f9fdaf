#include "torchwatch/commands/bisection_output.hpp"

#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/bisection_text.hpp"

namespace torchwatch::commands {

nlohmann::json to_json(const bisection::TraceStep& step) {
  using report::text_or_null;
  auto readings = nlohmann::json::array();
  for (const auto& reading : step.readings) {
    auto object = report::json_of(reading.series);
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
          {"text", terminal::sentence_on(step)}};
}

ExitStatus exit_status_of(const bisection::BisectionResult& result) {
  using bisection::BisectionOutcome;
  if (result.outcome == BisectionOutcome::faulted) return ExitStatus::environment;
  if (result.culprit()) return ExitStatus::regression;
  return result.outcome == BisectionOutcome::did_not_reproduce ? ExitStatus::done
                                                               : ExitStatus::no_conclusion;
}

}  // namespace torchwatch::commands
