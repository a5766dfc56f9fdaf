#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "torchwatch/executor/executor.hpp"

namespace torchwatch::executor {

/// Reads a result that a process left and returns it if everything about it can be believed: it is
/// of this attempt, answers the request, and claims no more time than the process `lived`. Errors:
/// corrupt, invalid, conflict (another attempt's).
Result<RunResult> believed(std::string_view text, const protocol::Request& request,
                           std::chrono::nanoseconds lived);

/// Returns the failure of a run whose result cannot be believed, or that left none. Pure.
RunFailure disbelieved(const Error&);

}  // namespace torchwatch::executor
