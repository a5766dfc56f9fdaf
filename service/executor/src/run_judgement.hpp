#pragma once

#include <chrono>
#include <filesystem>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::executor {

/// Judges a runner that has ended: returns the result that it left if everything about it can be
/// believed, else the reason why not. Errors: unavailable (it never started), cancelled.
Result<RunOutcome> judge(const process::ProcessOutcome&, const protocol::Request&,
                         const std::filesystem::path& result_file,
                         std::chrono::milliseconds rounding);

}  // namespace torchwatch::executor
