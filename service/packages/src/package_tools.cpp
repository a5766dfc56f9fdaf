#include "package_tools.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "answer.hpp"
#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::packages {
namespace {

namespace fs = std::filesystem;
using Settings = PackageStore::Settings;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputBytesMax = 4U << 20U;
constexpr std::size_t kLastWordsMax = 400;
constexpr const char* kRequestFile = "request.json";
constexpr const char* kExportFile = "export.json";
/// The exit status of the program where memory ran out.
constexpr int kOutOfMemory = 3;
/// What a program that is at fault dies of. Others come from outside.
constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS};

/// One of the two steps: what is started, what it sees, and where it answers.
struct Step {
  std::string name;  ///< "writing the graph"
  process::ProcessSpec spec;
  sandbox::Profile profile;
  fs::path answer;
};

/// What both steps have in common.
Step step_of(const Settings& settings, const Wanted& wanted, const fs::path& program,
             const fs::path& folder) {
  Step step{.name = {},
            .spec = {},
            .profile = executor::profile_of_runner(program, wanted.tree.folder / "lib"),
            .answer = {}};
  step.spec.program = program;
  step.spec.environment = wanted.environment;
  step.spec.working_folder = folder;
  step.spec.output_limit_bytes = kOutputBytesMax;
  step.spec.memory_limit_bytes = settings.memory_limit_bytes;
  step.spec.label = "package";
  step.profile.writable.push_back(folder);
  return step;
}

Step export_step(const Settings& settings, const Wanted& wanted, const fs::path& folder) {
  auto step = step_of(settings, wanted, wanted.kit.runner, folder);
  step.name = "writing the graph";
  step.answer = folder / kExportFile;
  step.spec.arguments = {"export", (folder / kRequestFile).string(), folder.string()};
  step.spec.environment.insert({{"LC_ALL", "C"},
                                {"HOME", folder.string()},
                                {"TMPDIR", folder.string()},
                                {"LD_LIBRARY_PATH", (wanted.tree.folder / "lib").string()}});
  return step;
}

Step compile_step(const Settings& settings, const Wanted& wanted, const fs::path& folder) {
  auto step = step_of(settings, wanted, settings.python, folder);
  step.name = "compiling";
  step.answer = folder / kAnswerFile;
  const auto& tree = wanted.tree.folder;
  step.spec.arguments = {"-I", "-B", settings.program.string(), tree.string(), folder.string()};
  step.spec.environment.merge(builds::tool_environment());
  step.spec.environment["LC_ALL"] = "C.UTF-8";
  step.spec.environment["OMP_NUM_THREADS"] =
      std::to_string(wanted.request.benchmark.variant.threads);
  for (const auto& each : {settings.program, tree}) step.profile.readable.push_back(each);
  step.profile.linked.push_back(tree);
  return step;
}

/// The end of what a tool printed, on one line.
std::string last_line(const std::string& output) {
  const auto end = output.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  const auto begin = output.find_last_of('\n', end);
  const auto line = output.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  return ": " + printable(line.substr(0, kLastWordsMax));
}

bool is_crash(const process::ProcessEnd& end) {
  const auto* signalled = std::get_if<process::Signalled>(&end);
  return signalled != nullptr && std::ranges::find(kCrashes, signalled->signal) != kCrashes.end();
}

bool is_kill(const process::ProcessEnd& end) {
  const auto* signalled = std::get_if<process::Signalled>(&end);
  const auto* exited = std::get_if<process::Exited>(&end);
  return signalled != nullptr || (exited != nullptr && exited->code == kOutOfMemory);
}

/// What a step comes to that did not exit with 0. Errors: as make_package.
Result<Outcome> outcome_of_failure(const Settings& settings, const Step& step,
                                   const process::ProcessOutcome& outcome) {
  const auto& end = outcome.end;
  if (std::holds_alternative<process::TimedOut>(end)) {
    return Refusal{"compile time: more than " + std::to_string(settings.time_limit.count()) + " s"};
  }
  if (std::holds_alternative<process::MemoryLimit>(end)) {
    return Refusal{step.name + " took more than [measure] memory_limit, " +
                   std::to_string(settings.memory_limit_bytes >> 20) + " MiB"};
  }
  const auto what = step.name + ": " + process::describe(end) + last_line(outcome.output);
  if (is_crash(end)) return Refusal{what};
  if (is_kill(end)) return Failed{.reason = what, .is_killed = true};
  if (std::holds_alternative<process::OutputLimit>(end)) return Failed{.reason = what};
  if (std::holds_alternative<process::Cancelled>(end)) return fail(ErrorCode::cancelled, what);
  return fail(ErrorCode::unavailable, what);
}

/// Carries out a step. Returns its answer, or what the workload comes to without one. Errors: as
/// make_package.
Result<std::variant<Answer, Outcome>> carry_out(Step step, const Settings& settings,
                                                Clock::time_point end,
                                                process::ProcessRunner& processes,
                                                std::stop_token stop) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  step.spec.time_limit = std::max(left, std::chrono::milliseconds(1));
  TW_TRY_VOID(builds::confine_tool(settings.sandbox, step.spec, step.profile));
  const auto outcome = processes.run(step.spec, std::move(stop));
  if (!process::succeeded(outcome)) {
    TW_TRY(auto without_answer, outcome_of_failure(settings, step, outcome));
    return without_answer;
  }
  TW_TRY(auto answer, read_answer(step.answer));
  return answer;
}

}  // namespace

Result<Outcome> make_package(const Settings& settings, const Wanted& wanted, const fs::path& folder,
                             process::ProcessRunner& processes, std::stop_token stop) {
  const auto end = Clock::now() + settings.time_limit;
  TW_TRY_VOID(platform::publish_file(folder / kRequestFile, protocol::to_json(wanted.request)));
  Package package{.file = folder / kPackageFile};
  for (const auto& step :
       {export_step(settings, wanted, folder), compile_step(settings, wanted, folder)}) {
    TW_TRY(auto ended, carry_out(step, settings, end, processes, stop));
    if (auto* without_answer = std::get_if<Outcome>(&ended)) return std::move(*without_answer);
    const auto& answer = std::get<Answer>(ended);
    if (answer.failure) return Failed{.reason = *answer.failure};
    if (answer.refusal) return Refusal{.reason = *answer.refusal, .is_kept = answer.is_kept};
    package.compile_time_ns = answer.compile_time_ns;
    package.compile_peak = answer.compile_peak;
  }
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(package.file, error))) return package;
  return fail(ErrorCode::corrupt, "compiling left no package");
}

}  // namespace torchwatch::packages
