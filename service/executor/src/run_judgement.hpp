#pragma once

#include <chrono>
#include <filesystem>

#include "torchwatch/doors/process.hpp"
#include "torchwatch/executor/executor.hpp"

namespace torchwatch::executor {

/// What to make of a runner that has ended: the result that it left, if everything about it can be
/// believed, else the reason why not. Errors: unavailable (it never started), cancelled.
Result<RunOutcome> judge(const doors::ProcessOutcome&, const protocol::Request&,
                         const std::filesystem::path& result_file,
                         std::chrono::milliseconds rounding);

}  // namespace torchwatch::executor
