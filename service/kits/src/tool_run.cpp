#include "tool_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::kits {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kSignsOfError{"error:"sv, "undefined reference"sv, "cannot find"sv,
                                   "CMake Error:"sv};
/// More than a person reads; std::regex goes as deep as the text is long.
constexpr std::size_t kLineBytesMax = 4096;
constexpr auto kHeadOfCMakeError = "CMake Error at"sv;  // what is wrong follows, indented
/// A kit's compiler and flags are its own, whatever the user compiles other programs with.
constexpr std::array kUsersFlags{"CC", "CFLAGS", "CXXFLAGS", "LDFLAGS"};
/// With these ccache also serves files that use a precompiled header: the header's own content is
/// hashed, its time and the macros that it was made with need not be.
constexpr auto kSloppiness = "pch_defines,time_macros,include_file_mtime,include_file_ctime";

/// ccache ends with an error where it finds no folder to write to: the user of a service often has
/// no home.
bool has_ccache_folder(const std::map<std::string, std::string>& environment) {
  if (environment.contains("CCACHE_DIR")) return true;
  const auto home = environment.find("HOME");
  return home != environment.end() && access(home->second.c_str(), W_OK) == 0;
}

process::ProcessSpec spec_of(const ToolRun& run) {
  auto environment = builds::tool_environment();
  for (const char* name : kUsersFlags) environment.erase(name);
  environment["CXX"] = "g++";
  environment["LC_ALL"] = "C";  // errors are looked for by their English words
  auto& sloppiness = environment["CCACHE_SLOPPINESS"];
  sloppiness = sloppiness.empty() ? kSloppiness : sloppiness + "," + kSloppiness;
  const bool needs_folder = !run.ccache.empty() && !has_ccache_folder(environment);
  if (needs_folder) environment["CCACHE_DIR"] = run.ccache.string();
  // Paths in the folder become relative, so that files compiled in another folder are known again.
  environment["CCACHE_BASEDIR"] = run.folder.string();
  return {.program = run.program,
          .arguments = run.arguments,
          .environment = std::move(environment),
          .working_folder = run.folder,
          .time_limit = run.time_limit,
          .output_limit_bytes = run.output_limit_bytes,
          .label = "kit",
          .cpus = {},
          .on_started = {}};
}

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// "/folder/Macros.h:8:2: error: ..." as "Macros.h:8: error: ...": the whole path is in the output.
std::string with_short_place(const std::string& line) {
  static const std::regex place(R"(^(?:[^\s:]*/)?([^\s:/]+:\d+)(?::\d+)?: )");
  return std::regex_replace(line.substr(0, kLineBytesMax), place, "$1: ");
}

bool has_sign_of_error(const std::string& line) {
  return std::ranges::any_of(
      kSignsOfError, [&](std::string_view sign) { return line.find(sign) != std::string::npos; });
}

/// A compiler on a full disk fails like one that finds an error, but for nobody's fault. Nor does a
/// tool kill itself: the kernel does, when memory runs out, or a person.
bool blames_the_machine(const process::ProcessOutcome& outcome) {
  const auto* signalled = std::get_if<process::Signalled>(&outcome.end);
  if (signalled != nullptr && signalled->signal == SIGKILL) return true;
  constexpr std::array<std::string_view, 4> kSigns{
      "No space left on device", "Cannot allocate memory", "virtual memory exhausted",
      "Killed signal terminated program"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) {
    return outcome.output.find(sign) != std::string::npos;
  });
}

std::string what_failed(const ToolRun& run, const process::ProcessOutcome& outcome) {
  const auto error = first_error(outcome.output);
  const auto end = run.program + ": " + process::describe(outcome.end);
  const std::string text = error.empty() ? end : error + " (" + end + ")";
  if (run.log.empty() || !platform::publish_file(run.log, outcome.output)) return text;
  return text + "; the whole output is in " + run.log.string();
}

}  // namespace

std::string first_error(const std::string& output) {
  std::string last;
  std::string said_by_cmake;
  bool in_cmake_error = false;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::string text = trimmed(line.substr(0, kLineBytesMax));
    const bool goes_on = in_cmake_error && line.starts_with(' ') && !text.empty();
    if (!said_by_cmake.empty() && !goes_on) break;
    if (text.empty()) continue;
    if (goes_on) {
      said_by_cmake += (said_by_cmake.empty() ? "" : " ") + text;
      continue;
    }
    in_cmake_error = line.starts_with(kHeadOfCMakeError);
    if (in_cmake_error) continue;
    if (has_sign_of_error(line)) return with_short_place(text);
    last = std::move(text);
  }
  return said_by_cmake.empty() ? last : with_short_place(said_by_cmake);
}

Result<std::string> run_tool(const ToolRun& run, process::ProcessRunner& processes,
                             std::stop_token stop) {
  auto spec = spec_of(run);
  TW_TRY_VOID(builds::confine_compiler(run.sandbox, spec, run.profile, run.compiler_cache));
  auto outcome = processes.run(spec, std::move(stop));
  if (process::succeeded(outcome)) return std::move(outcome.output);
  if (std::holds_alternative<process::Cancelled>(outcome.end)) {
    return fail(ErrorCode::cancelled, run.program + " was stopped");
  }
  if (std::holds_alternative<process::TimedOut>(outcome.end)) {
    return fail(ErrorCode::failed, run.program + " did not end within " +
                                       std::to_string(run.time_limit.count()) + " s");
  }
  if (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    return fail(ErrorCode::unavailable, process::describe(outcome.end),
                "install g++, cmake and ninja-build, they compile the runner");
  }
  const auto code = blames_the_machine(outcome) ? ErrorCode::unavailable : run.failure;
  return fail(code, what_failed(run, outcome));
}

}  // namespace torchwatch::kits
