#include "torchwatch/executor/local_executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "attempt.hpp"
#include "run_judgement.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/platform/core_affinity.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/protocol/machine_facts.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAttemptLengthMax = 200;

bool is_folder_name(std::string_view attempt) {
  return !attempt.empty() && attempt.size() <= kAttemptLengthMax &&
         std::all_of(attempt.begin(), attempt.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Status check(const RunSpec& spec) {
  if (!is_folder_name(spec.request.attempt)) {
    return fail(ErrorCode::invalid, "invalid attempt id \"" + spec.request.attempt +
                                        "\": must be letters, digits, - and _");
  }
  if (!spec.command && access(spec.runner.c_str(), X_OK) != 0) {
    return fail(ErrorCode::unavailable, "runner " + spec.runner.string() + " cannot be executed");
  }
  std::error_code ignored;
  if (!fs::is_directory(spec.libraries, ignored)) {
    return fail(ErrorCode::unavailable, "no folder of libraries at " + spec.libraries.string());
  }
  return {};
}

std::array<protocol::Interleave, 2> pipes_of(const fs::path& scratch,
                                             const std::array<RunSpec, 2>& specs) {
  const auto first = AttemptFolder::path_of(scratch, specs[0]) / "pipe";
  const auto second = AttemptFolder::path_of(scratch, specs[1]) / "pipe";
  const bool agree = !specs[0].command && !specs[1].command;
  return {protocol::Interleave{.own = first, .other = second, .begins = true, .agrees = agree},
          protocol::Interleave{.own = second, .other = first, .begins = false, .agrees = agree}};
}

/// Its own folder, to write; of the other run of a pair, only the pipe.
sandbox::Profile profile_of(const RunSpec& run, const AttemptFolder& folder) {
  const fs::path program = run.command ? fs::path(run.command->words.front()) : run.runner;
  auto profile = profile_of_runner(program, run.libraries);
  if (run.command) {
    show_command(*run.command, fs::absolute(run.libraries).parent_path(), profile);
  }
  if (!run.request.package.empty()) profile.readable.emplace_back(run.request.package);
  profile.writable.push_back(folder.path());
  if (run.request.interleave) profile.writable.emplace_back(run.request.interleave->other);
  profile.has_gpu = run.request.benchmark.configuration.device == Device::cuda;
  return profile;
}

/// The libraries of runs, placed anew for those that ask for it, while this object lives.
class Placements {
 public:
  /// Makes the specs name the copies. Errors: those of `place`.
  static Result<Placements> make(std::span<RunSpec> specs, const fs::path& scratch) {
    Placements made;
    for (RunSpec& spec : specs) {
      if (!spec.fresh_copy) continue;
      TW_TRY(auto placed, place(spec.libraries, scratch));
      spec.libraries = placed.folder();
      made.placed_.push_back(std::move(placed));
    }
    return made;
  }

 private:
  std::vector<PlacedLibraries> placed_;
};

bool is_of_an_ended_run(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kAttemptPrefix) || name.starts_with(kPlacedPrefix);
}

}  // namespace

sandbox::Profile profile_of_runner(const fs::path& runner, const fs::path& libraries) {
  sandbox::Profile profile;
  // Wheels of CUDA libraries lie beside that of torch, and are found by ../../nvidia.
  const fs::path packages = fs::absolute(libraries).lexically_normal().parent_path().parent_path();
  profile.readable = {fs::absolute(runner), fs::absolute(libraries), packages / "nvidia"};
  profile.linked = {fs::absolute(libraries)};
  return profile;
}

std::map<std::string, std::string> device_environment() {
  constexpr const char* kDevices = "CUDA_VISIBLE_DEVICES";
  const char* const devices = std::getenv(kDevices);
  if (devices == nullptr) return {};
  return {{kDevices, devices}};
}

/// The machine, held for one run or one interleaved pair.
class LocalExecutor::Hold {
 public:
  /// Waits until nothing else runs. Errors: cancelled.
  static Result<Hold> take(LocalExecutor& executor, std::stop_token stop) {
    std::unique_lock lock(executor.mutex_);
    executor.freed_.wait(lock, stop, [&] { return !executor.is_busy_; });
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the run was cancelled");
    executor.is_busy_ = true;
    return Hold(executor);
  }
  Hold(Hold&& other) noexcept : executor_(std::exchange(other.executor_, nullptr)) {}
  Hold& operator=(Hold&&) = delete;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    if (executor_ == nullptr) return;
    {
      const std::scoped_lock lock(executor_->mutex_);
      executor_->is_busy_ = false;
    }
    executor_->freed_.notify_one();
  }

 private:
  explicit Hold(LocalExecutor& executor) : executor_(&executor) {}
  LocalExecutor* executor_;
};

LocalExecutor::LocalExecutor(process::ProcessRunner& processes, fs::path scratch, Settings settings)
    : processes_(processes), scratch_(fs::absolute(scratch)), settings_(std::move(settings)) {}

Result<RunOutcome> LocalExecutor::run(const RunSpec& asked, std::stop_token stop) {
  TW_TRY_VOID(check(asked));
  RunSpec spec = asked;
  // The run sees its own folder alone; what it writes there is kept from here.
  const auto written = AttemptFolder::path_of(scratch_, spec) / "trace.json";
  const fs::path trace = std::exchange(spec.request.chrome_trace, "");
  if (!trace.empty()) spec.request.chrome_trace = written;
  std::stop_source end;
  const std::stop_callback forward(stop, [&end] { end.request_stop(); });
  TW_TRY(const Hold hold, Hold::take(*this, end.get_token()));
  TW_TRY(const auto placed, Placements::make({&spec, 1}, scratch_));
  TW_TRY(const AttemptFolder folder, AttemptFolder::create(scratch_, spec));
  TW_TRY(auto outcome, carry_out(spec, folder, end));
  const bool has_result = std::holds_alternative<RunResult>(outcome);
  if (has_result && !trace.empty()) TW_TRY_VOID(traces::keep(written, trace));
  return outcome;
}

Result<std::array<RunOutcome, 2>> LocalExecutor::run_pair(std::array<RunSpec, 2> specs,
                                                          std::stop_token stop) {
  for (const auto& spec : specs) TW_TRY_VOID(check(spec));
  std::stop_source end;
  const std::stop_callback forward(stop, [&end] { end.request_stop(); });
  TW_TRY(const Hold hold, Hold::take(*this, end.get_token()));
  TW_TRY(const auto placed, Placements::make(specs, scratch_));

  const auto pipes = pipes_of(scratch_, specs);
  for (std::size_t i = 0; i < specs.size(); ++i) specs[i].request.interleave = pipes[i];
  TW_TRY(const AttemptFolder first, AttemptFolder::create(scratch_, specs[0]));
  TW_TRY(const AttemptFolder second, AttemptFolder::create(scratch_, specs[1]));
  TW_TRY(const InterleavePipes open_pipes, InterleavePipes::create(pipes));

  std::array<std::optional<Result<RunOutcome>>, 2> outcomes;
  const auto run = [&](std::size_t index, const AttemptFolder& folder) {
    outcomes[index] = carry_out(specs[index], folder, end);
    open_pipes.send_ended(index);
  };
  try {
    const std::jthread other([&] { run(1, second); });
    run(0, first);
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable,
                std::string("no thread for the second run of a pair: ") + error.what());
  }
  TW_TRY(auto outcome, std::move(*outcomes[0]));
  TW_TRY(auto outcome_of_other, std::move(*outcomes[1]));
  return std::array{std::move(outcome), std::move(outcome_of_other)};
}

process::ProcessSpec LocalExecutor::make_spec(const protocol::Request& request,
                                              const fs::path& folder) const {
  const int asked = request.benchmark.variant.threads;
  const int threads = asked > 0 ? asked : settings_.threads;
  process::ProcessSpec spec{};
  spec.environment = settings_.environment;
  spec.environment.insert({{"LC_ALL", "C"},
                           {"HOME", folder.string()},
                           {"TMPDIR", folder.string()},
                           {"OMP_NUM_THREADS", std::to_string(threads)},
                           {"MKL_NUM_THREADS", std::to_string(threads)},
                           {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}});
  const bool on_cpu = request.benchmark.configuration.device == Device::cpu;
  if (settings_.bind_to_cores && threads > 1 && on_cpu) {
    spec.environment.insert({{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}});
  }
  spec.working_folder = folder;
  spec.time_limit = std::chrono::milliseconds(request.limits.time_ms) + settings_.grace;
  spec.output_limit_bytes = settings_.output_limit_bytes;
  spec.memory_limit_bytes = request.limits.memory_bytes;
  spec.label = request.attempt;
  spec.own_session = true;
  const bool is_timed = protocol::is_timed(request);
  // Before the sandbox, in which the runner's own attempt is refused.
  spec.raise_priority = is_timed;
  spec.cpus = settings_.cpus;
  if (spec.cpus.empty() && settings_.bind_to_cores && is_timed && threads == 1 &&
      request.pin_to_core) {
    if (const int core = platform::highest_core(); core >= 0) spec.cpus = {core};
  }
  return spec;
}

void LocalExecutor::set_program(process::ProcessSpec& spec, const RunSpec& run,
                                const AttemptFolder& folder) {
  spec.program = folder.runner();
  if (run.command) {
    const auto& words = run.command->words;
    spec.program = words.front();
    spec.arguments.assign(words.begin() + 1, words.end());
    // Compilers that torch.compile calls find their parts by PATH. The tree is not to be written,
    // and the order of sets not to be drawn anew in each run.
    spec.environment.insert({{kTreeVariable, folder.tree().string()},
                             {"PATH", process::kDefaultSearchPath},
                             {"PYTHONDONTWRITEBYTECODE", "1"},
                             {"PYTHONHASHSEED", "0"},
                             {"PYTHONNOUSERSITE", "1"}});
    // On the heap what Python's objects take can be seen.
    if (run.request.pass == Pass::memory) spec.environment["PYTHONMALLOC"] = "malloc";
  }
  for (const auto& word :
       {std::string("measure"), folder.request().string(), folder.result().string()}) {
    spec.arguments.push_back(word);
  }
}

Result<RunOutcome> LocalExecutor::carry_out(const RunSpec& run, const AttemptFolder& folder,
                                            std::stop_source& stop) {
  if (run.command) {
    // A command of somebody's own that cannot be started fails alone: the others are measured.
    auto reason = why_not_startable(*run.command);
    if (!reason.empty()) return RunFailure{.reason = std::move(reason), .output = {}};
  }
  auto spec = make_spec(run.request, folder.path());
  for (const auto& [name, value] : run.environment) spec.environment[name] = value;
  set_program(spec, run, folder);
  std::string& search_path = spec.environment["LD_LIBRARY_PATH"];
  search_path = folder.libraries().string() + (search_path.empty() ? "" : ":" + search_path);
  TW_TRY_VOID(settings_.sandbox.confine(spec, profile_of(run, folder)));
  Status after_spawn;
  spec.on_started = [&](std::int64_t) {
    after_spawn = platform::failpoint("executor.after_spawn");
    if (!after_spawn) stop.request_stop();
  };
  const auto outcome = processes_.run(spec, stop.get_token());
  TW_TRY_VOID(after_spawn);
  TW_TRY_VOID(platform::failpoint("executor.before_result_read"));
  TW_TRY(auto judged, judge(outcome, run.request, folder.result(), settings_.rounding));
  if (auto* const failure = std::get_if<RunFailure>(&judged); failure != nullptr && run.command) {
    // Not refused before the start: an argument may name what the command makes itself.
    const auto wrong = what_is_wrong(*run.command);
    if (!wrong.empty()) failure->reason += "; " + wrong;
  }
  if (auto* const result = std::get_if<RunResult>(&judged)) {
    result->environment.facts["sandbox"] = spelling(settings_.sandbox.kind());
    // Where a command of somebody's own says nothing of the machine itself.
    if (run.command) result->environment.facts.merge(protocol::machine_facts());
  }
  return judged;
}

Status LocalExecutor::sweep() {
  std::error_code error;
  if (!fs::exists(scratch_, error)) return {};
  const auto listing = platform::list_folder(scratch_);
  error = listing.error;
  for (const auto& entry : listing.entries) {
    std::error_code failed;
    if (is_of_an_ended_run(entry.path())) fs::remove_all(entry.path(), failed);
    if (failed) error = failed;
  }
  if (error) return fail(ErrorCode::unavailable, scratch_.string() + ": " + error.message());
  return {};
}

}  // namespace torchwatch::executor
