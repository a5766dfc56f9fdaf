#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/doors/process.hpp"

namespace torchwatch::builds {

/// A compiler or ninja at work.
struct ToolRun {
  std::string program;
  std::vector<std::string> arguments;
  std::filesystem::path folder;  ///< to work in
  std::chrono::seconds time_limit;
  std::size_t output_limit_bytes;
};

/// What it printed. Errors: cancelled, timed_out, unavailable (not installed; failed: with the
/// first lines that tell an error).
Result<std::string> run_tool(const ToolRun&, doors::ProcessRunner&, std::stop_token stop);

/// The lines of a compiler's, linker's or ninja's output that tell what is wrong, three at most.
std::string first_errors(const std::string& output);

}  // namespace torchwatch::builds
