#include "torchwatch/source/clone.hpp"

#include <sstream>

#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputBytesMax = 1U << 16U;
/// PyTorch's nightlies are commits of a branch "nightly" whose subjects name the trunk's.
constexpr const char* kNightlies = "+refs/heads/nightly*:refs/heads/nightly*";

std::map<std::string, std::string> git_environment(const std::string& address) {
  auto environment = builds::tool_environment({"SSH_AUTH_SOCK"});
  environment["LC_ALL"] = "C.UTF-8";
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_SSH_COMMAND"] =
      "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 "
      "-o ServerAliveCountMax=4";
  // Not an argument, which everybody on the machine can read: it may hold a password.
  environment["GIT_CONFIG_COUNT"] = "1";
  environment["GIT_CONFIG_KEY_0"] = "remote.origin.url";
  environment["GIT_CONFIG_VALUE_0"] = address;
  return environment;
}

/// What a git that was killed left behind. The folder's lock is held, so no other one is at work.
void remove_leftovers(const fs::path& folder) {
  const auto is_leftover = [](const fs::path& file) {
    const auto name = file.filename().string();
    return file.extension() == ".lock" || name.starts_with("tmp_pack_");
  };
  for (const auto& entry : platform::list_tree(folder).entries) {
    std::error_code gone;
    if (entry.is_regular_file(gone) && is_leftover(entry.path())) fs::remove(entry.path(), gone);
  }
}

/// The line in which git says what is wrong.
std::string fault_in(const std::string& output) {
  std::string fault = output;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string mark : {"fatal: ", "error: "}) {
      if (line.starts_with(mark)) fault = line.substr(mark.size());
    }
    if (line.starts_with("fatal: ")) break;
  }
  fault.erase(fault.find_last_not_of(" \n") + 1);
  return fault;
}

Error explain(const process::ProcessOutcome& outcome, const CloneSettings& settings) {
  const auto what = "cannot fetch [source] repository " + log::redact(settings.address) + ": ";
  if (std::holds_alternative<process::Cancelled>(outcome.end)) {
    return {ErrorCode::cancelled, "stopped"};
  }
  if (std::holds_alternative<process::TimedOut>(outcome.end)) {
    return {ErrorCode::timed_out,
            what + "not done within " + std::to_string(settings.time_limit.count()) + " s"};
  }
  if (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    return {ErrorCode::unavailable, what + process::describe(outcome.end) + ": install git"};
  }
  const auto fault = log::redact(fault_in(outcome.output));
  if (fault.starts_with("couldn't find remote ref refs/heads/")) {
    return {ErrorCode::unavailable, what + fault, "set [source] branch to a branch that it has"};
  }
  return {ErrorCode::unavailable, what + (fault.empty() ? process::describe(outcome.end) : fault)};
}

}  // namespace

Result<Clone> Clone::open(CloneSettings settings, process::ProcessRunner& processes) {
  Clone clone(std::move(settings), processes);
  const auto& folder = clone.settings_.folder;
  std::error_code error;
  if (fs::exists(folder / "HEAD", error)) return clone;
  fs::create_directories(folder.parent_path(), error);
  if (error) {
    return fail(ErrorCode::unavailable, "cannot make " + folder.string() + ": " + error.message());
  }
  TW_TRY_VOID(
      clone.run({"init", "--quiet", "--bare", "--initial-branch", clone.settings_.branch}, {}));
  return clone;
}

Status Clone::refresh(std::stop_token stop) {
  TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.folder));
  remove_leftovers(settings_.folder);
  const auto trunk = "refs/heads/" + settings_.branch;
  return run({"fetch", "--quiet", "--no-tags", "origin", "+" + trunk + ":" + trunk, kNightlies},
             std::move(stop));
}

Status Clone::fetch(const std::string& commit, std::stop_token stop) {
  // git takes what begins with a hyphen for an option, and other words for branches.
  if (!is_commit_name(commit)) {
    return fail(ErrorCode::not_found, "\"" + commit + "\" is not the name of a commit");
  }
  TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.folder));
  remove_leftovers(settings_.folder);
  const auto fetched = run({"fetch", "--quiet", "--no-tags", "origin", commit}, std::move(stop));
  if (fetched || fetched.error().code != ErrorCode::unavailable) return fetched;
  return fail(fetched.error().as(ErrorCode::not_found));
}

Status Clone::run(std::vector<std::string> arguments, std::stop_token stop) {
  arguments.insert(arguments.begin(), "--git-dir=" + settings_.folder.string());
  // Nothing that was fetched is ever removed: builds and incidents name commits that a branch lost.
  arguments.insert(arguments.begin(), {"-c", "gc.auto=0", "-c", "maintenance.auto=false"});
  const auto stall = "http.lowSpeedTime=" + std::to_string(settings_.stall_limit.count());
  arguments.insert(arguments.begin(), {"-c", "http.lowSpeedLimit=1", "-c", stall});
  const process::ProcessSpec spec{.program = "git",
                                  .arguments = std::move(arguments),
                                  .environment = git_environment(settings_.address),
                                  .working_folder = settings_.folder.parent_path(),
                                  .time_limit = settings_.time_limit,
                                  .output_limit_bytes = kOutputBytesMax,
                                  .label = "git",
                                  .cpus = {},
                                  .on_started = {}};
  const auto outcome = processes_->run(spec, std::move(stop));
  if (process::succeeded(outcome)) return {};
  return fail(explain(outcome, settings_));
}

bool is_commit_name(std::string_view text) {
  constexpr std::size_t kDigitsMin = 7;
  constexpr std::size_t kDigitsMax = 40;
  return is_hex(text, kDigitsMin, kDigitsMax);
}

}  // namespace torchwatch::source
