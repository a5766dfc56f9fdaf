#include "tool_run.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "recipe.hpp"
#include "torchwatch/builds/tool_environment.hpp"

namespace torchwatch::builds {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kSignsOfError{"error:"sv, "undefined reference"sv, "cannot find"sv};
constexpr std::size_t kErrorLinesMax = 3;
/// With these ccache also serves files that use a precompiled header: the header's own content is
/// hashed, its time and the macros that it was made with need not be.
constexpr auto kSloppiness = "pch_defines,time_macros,include_file_mtime,include_file_ctime";

doors::ProcessSpec spec_of(const ToolRun& run) {
  auto environment = tool_environment();
  environment["LC_ALL"] = "C";  // errors are looked for by their English words
  auto& sloppiness = environment["CCACHE_SLOPPINESS"];
  sloppiness = sloppiness.empty() ? kSloppiness : sloppiness + "," + kSloppiness;
  return {.program = run.program,
          .arguments = run.arguments,
          .environment = std::move(environment),
          .working_folder = run.folder,
          .time_limit = run.time_limit,
          .output_limit_bytes = run.output_limit_bytes,
          .tag = "kit",
          .cpus = {},
          .on_started = {}};
}

}  // namespace

std::string first_errors(const std::string& output) {
  std::string errors;
  std::size_t count = 0;
  std::istringstream lines(output);
  for (std::string line; count < kErrorLinesMax && std::getline(lines, line);) {
    const auto is_in_line = [&](std::string_view sign) {
      return line.find(sign) != std::string::npos;
    };
    if (std::ranges::none_of(kSignsOfError, is_in_line)) continue;
    errors += (count == 0 ? "" : "\n") + line;
    ++count;
  }
  return count == 0 ? last_line(output) : errors;
}

Result<std::string> run_tool(const ToolRun& run, doors::ProcessRunner& processes,
                             std::stop_token stop) {
  auto outcome = processes.run(spec_of(run), std::move(stop));
  if (doors::succeeded(outcome)) return std::move(outcome.output);
  if (std::holds_alternative<doors::Cancelled>(outcome.end)) {
    return fail(ErrorCode::cancelled, run.program + " was stopped");
  }
  if (std::holds_alternative<doors::TimedOut>(outcome.end)) {
    return fail(ErrorCode::timed_out, run.program + " did not end within " +
                                          std::to_string(run.time_limit.count()) + " s");
  }
  if (std::holds_alternative<doors::SpawnFailed>(outcome.end)) {
    return fail(
        ErrorCode::unavailable,
        doors::describe(outcome.end) + "; install g++ and ninja-build, they compile the runner");
  }
  return fail(ErrorCode::unavailable, run.program + ": " + doors::describe(outcome.end) + "\n" +
                                          first_errors(outcome.output));
}

}  // namespace torchwatch::builds
