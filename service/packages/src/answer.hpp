#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "torchwatch/packages/package_store.hpp"

namespace torchwatch::packages {

/// What a step answers: why it refuses the workload or has failed, or neither, and what compiling
/// took.
struct Answer {
  std::optional<std::string> refusal = {};
  std::optional<std::string> failure = {};
  bool is_kept = true;  ///< no other try would answer otherwise
  std::int64_t compile_time_ns = 0;
  std::int64_t compile_peak = 0;
};

/// Writes an answer, whole or not at all. Errors: unavailable.
Status write_answer(const std::filesystem::path& file, const Answer&);

/// Reads an answer, which foreign code may have written: nothing but a regular file with members of
/// the right types, a reason that can be shown, figures in range. Errors: not_found, corrupt.
Result<Answer> read_answer(const std::filesystem::path& file);

}  // namespace torchwatch::packages
