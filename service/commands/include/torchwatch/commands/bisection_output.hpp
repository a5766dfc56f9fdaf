#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/bisection/result.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/commands/exit_status.hpp"

namespace torchwatch::commands {

/// Makes a step of a bisection's trace as JSON.
nlohmann::json to_json(const bisection::TraceStep&);

/// Returns 1 if a culprit is named, 3 if the recipe kept failing, 4 without a conclusion, 0 if the
/// change did not reproduce.
ExitStatus exit_status_of(const bisection::BisectionResult&);

}  // namespace torchwatch::commands
