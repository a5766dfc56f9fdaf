#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/bisection/result.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/commands/exit_status.hpp"

namespace torchwatch::commands {

/// Prints what a bisection found: the culprit, how sure, the effects, what was skipped.
void print(std::ostream&, const bisection::BisectionResult&, const bisect::CommitHistory*);

/// Prints its trace, step by step, for an engineer who checks it.
void print(std::ostream&, const std::vector<bisection::TraceStep>&);
/// Makes a step of the trace as JSON.
nlohmann::json to_json(const bisection::TraceStep&);

/// Returns 1 if a culprit is named, 3 if the recipe kept failing, 4 without a conclusion, 0 if the
/// change did not reproduce.
ExitStatus exit_status_of(const bisection::BisectionResult&);

}  // namespace torchwatch::commands
