#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::kits {

/// One call of cmake, ninja or g++.
struct ToolRun {
  std::string program;
  std::vector<std::string> arguments;
  std::filesystem::path folder;  ///< to work in
  std::chrono::seconds time_limit;
  std::size_t output_limit_bytes;
  std::filesystem::path log =
      {};  ///< the whole output is kept here if the tool fails; may be empty
  std::filesystem::path ccache = {};      ///< for ccache where the user has neither folder nor home
  ErrorCode failure = ErrorCode::failed;  ///< what it means if the tool fails
  sandbox::Sandbox sandbox = {};
  sandbox::Profile profile = {};
  builds::CompilerCache compiler_cache = builds::CompilerCache::shared;
};

/// Runs the tool and returns what it printed. It sees `builds::tool_environment()` less the user's
/// compiler and flags. Errors: cancelled, unavailable (not installed; a full disk
/// or memory), failed (its time is up), `failure` (with the first error that it printed).
Result<std::string> run_tool(const ToolRun&, process::ProcessRunner&, std::stop_token stop);

/// The first line of a compiler's, linker's, CMake's or ninja's output that says what is wrong,
/// with a file's name and line only: "Macros.h:8: error: ..."; where no line does, the last one.
/// The lines into which CMake breaks a sentence are joined.
std::string first_error(const std::string& output);

}  // namespace torchwatch::kits
