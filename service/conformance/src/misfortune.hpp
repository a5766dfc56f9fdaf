#pragma once

#include <string>
#include <string_view>

#include "torchwatch/executor/executor.hpp"

namespace torchwatch::conformance {

// What came of a run that a check asked for. All of it is pure.

/// Returns the result of a run that ended well; null where there is none.
const RunResult* ok_result(const executor::RunOutcome&);

/// Returns what came in the place of a result that is ok, with the last line that was printed.
std::string misfortune(const executor::RunOutcome&);

/// Returns what to do about an outcome that is not ok; `otherwise` where it is about the answer.
std::string remedy_of(const executor::RunOutcome&, std::string_view otherwise);

}  // namespace torchwatch::conformance
