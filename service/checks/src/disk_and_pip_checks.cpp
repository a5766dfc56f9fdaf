#include <unistd.h>

#include <filesystem>

#include "finding.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFreeBytesMin = std::int64_t{10} << 30;

/// Errors: unavailable (the folder cannot be asked).
Result<std::int64_t> free_bytes(const fs::path& folder) {
  auto existing = fs::absolute(folder);
  std::error_code error;
  while (!fs::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  const auto space = fs::space(existing, error);
  if (!error) return static_cast<std::int64_t>(space.available);
  return fail(ErrorCode::unavailable, folder.string() + ": " + error.message());
}

/// Returns the last line that says something.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

process::ProcessSpec pip_version() {
  constexpr std::chrono::seconds kTimeLimit{60};
  constexpr std::size_t kOutputBytesMax = 1U << 20U;
  return {.program = "python3",
          .arguments = {"-I", "-m", "pip", "--version"},
          .environment = builds::tool_environment(),
          .working_folder = "/tmp",
          .time_limit = kTimeLimit,
          .output_limit_bytes = kOutputBytesMax,
          .label = "check",
          .cpus = {},
          .on_started = {}};
}

}  // namespace

CheckResult check_disk(const config::Config& config) {
  const auto of_state = free_bytes(config.storage.path.parent_path());
  const auto of_cache = free_bytes(config.build.cache);
  if (!of_state || !of_cache) {
    return {.severity = Severity::error,
            .what = "disk",
            .found = (of_state ? of_cache : of_state).error().text(),
            .remedy = "choose another [storage] path or [build] cache"};
  }
  const auto least = std::min(*of_state, *of_cache);
  const auto& folder =
      *of_cache <= *of_state ? config.build.cache : config.storage.path.parent_path();
  const auto found = figures::bytes(least) + " free at " + folder.string();
  const auto reserve = config.build.disk_reserve_bytes;
  if (least < reserve) {
    return {.severity = Severity::error,
            .what = "disk",
            .found = found + ", less than [build] disk_reserve (" + figures::bytes(reserve) + ")",
            .remedy = "free some space, or set a smaller reserve: no work begins"};
  }
  if (least >= kFreeBytesMin) return good("disk", found);
  return {.severity = Severity::warning,
          .what = "disk",
          .found = found,
          .remedy = "free " + figures::bytes(kFreeBytesMin) +
                    ", or move [storage] path and [build] cache: releases and builds are large"};
}

CheckResult check_pip(const config::Config& config) {
  const auto needed =
      config.channel.kind != config::ChannelKind::directory ? Severity::error : Severity::warning;
  const auto processes =
      process::make_process_runner("torchwatch check of pip, process " + std::to_string(getpid()));
  const auto confinement = daemon::open_sandbox(config, *processes);
  // What keeps the sandbox from working is a finding of its own.
  const auto sandbox = confinement ? confinement->sandbox : sandbox::Sandbox{};
  auto spec = pip_version();
  const auto confined = builds::confine_tool(sandbox, spec, {});
  const auto outcome = processes->run(spec, {});
  if (confined && process::succeeded(outcome)) return good("pip", last_line(outcome.output));
  const bool is_confined = sandbox.kind() != sandbox::Kind::none;
  const auto said = last_line(outcome.output);
  return {.severity = needed,
          .what = "pip",
          .found = "python3 -m pip: " + (said.empty() ? process::describe(outcome.end) : said),
          .remedy = is_confined
                        ? "releases are fetched with it in the sandbox: install python3-pip, "
                          "or name the folder of this python3 in [sandbox] readable"
                        : "install python3-pip: releases are fetched with it"};
}

}  // namespace torchwatch::checks
