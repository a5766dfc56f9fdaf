#pragma once

#include <span>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::platform {

/// Marks a named place beside an effect outside the database. Always compiled in; does nothing
/// unless TORCHWATCH_FAILPOINT names it as `name:n:action`, where n counts how often it is reached
/// (several are joined by commas). Actions: kill (SIGKILL to this process), error (an error of code
/// unavailable), pause (SIGSTOP to this process). With TORCHWATCH_FAILPOINT_LOG=FILE each point
/// that is reached is appended to FILE as a line. Thread-safe; the environment is read once.
Status failpoint(std::string_view name);

/// Returns all names. Reaching a failpoint that is not among them aborts the process.
std::span<const std::string_view> failpoint_names();

}  // namespace torchwatch::platform
