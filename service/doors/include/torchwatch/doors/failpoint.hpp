#pragma once

#include <span>
#include <string_view>

#include "torchwatch/records/error.hpp"

namespace torchwatch::doors {

/// A named place beside an effect outside the database. Compiled in always, does nothing unless
/// TORCHWATCH_FAILPOINT names it as `name:n:action` (the n-th time it is reached; several are
/// joined by commas). Actions: kill (SIGKILL to this process), error (an error of code
/// unavailable), pause (SIGSTOP to this process). With TORCHWATCH_FAILPOINT_LOG=FILE each point
/// reached is appended to FILE, a line each. Thread-safe; the environment is read once.
Status failpoint(std::string_view name);

/// All names there are; reaching one that is not listed is a programmer's mistake (aborts).
std::span<const std::string_view> failpoint_names();

}  // namespace torchwatch::doors
