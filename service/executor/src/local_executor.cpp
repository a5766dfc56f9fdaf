#include "torchwatch/executor/local_executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "attempt_folder.hpp"
#include "placement_prefix.hpp"
#include "run_judgement.hpp"
#include "torchwatch/doors/failpoint.hpp"

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAttemptLengthMax = 200;

bool is_folder_name(std::string_view attempt) {
  return !attempt.empty() && attempt.size() <= kAttemptLengthMax &&
         std::all_of(attempt.begin(), attempt.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Status check(const RunOrder& order) {
  if (!is_folder_name(order.request.attempt)) {
    return fail(ErrorCode::invalid, "attempt id '" + order.request.attempt +
                                        "': only letters, digits, - and _ are allowed");
  }
  if (access(order.runner.c_str(), X_OK) != 0) {
    return fail(ErrorCode::unavailable, "runner " + order.runner.string() + " cannot be executed");
  }
  std::error_code ignored;
  if (!fs::is_directory(order.libraries, ignored)) {
    return fail(ErrorCode::unavailable, "no folder of libraries at " + order.libraries.string());
  }
  return {};
}

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kAttemptPrefix) || name.starts_with(kPlacedPrefix);
}

}  // namespace

LocalExecutor::LocalExecutor(doors::ProcessRunner& processes, fs::path scratch, Settings settings)
    : processes_(processes), scratch_(fs::absolute(scratch)), settings_(std::move(settings)) {}

Result<RunId> LocalExecutor::submit(const RunOrder& order) {
  TW_TRY_VOID(check(order));
  const std::scoped_lock lock(mutex_);
  auto run = std::make_shared<Run>();
  run->order = order;
  runs_[++last_id_] = std::move(run);
  return last_id_;
}

Result<std::shared_ptr<LocalExecutor::Run>> LocalExecutor::find(RunId id) {
  const std::scoped_lock lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) {
    return fail(ErrorCode::not_found, "no run " + std::to_string(id) + " is open");
  }
  return found->second;
}

Result<RunOutcome> LocalExecutor::wait(RunId id, std::stop_token stop) {
  TW_TRY(const auto run, find(id));
  const std::stop_callback forward(stop, [&run] { run->stop.request_stop(); });
  {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, run->stop.get_token(), [this] { return !is_busy_; });
    runs_.erase(id);
    if (run->stop.stop_requested()) return fail(ErrorCode::cancelled, "the run was cancelled");
    is_busy_ = true;
  }
  auto outcome = carry_out(run->order, run->stop);
  {
    const std::scoped_lock lock(mutex_);
    is_busy_ = false;
  }
  turn_.notify_one();
  return outcome;
}

Status LocalExecutor::cancel(RunId id) {
  TW_TRY(const auto run, find(id));
  run->stop.request_stop();
  return {};
}

doors::ProcessSpec LocalExecutor::make_spec(const protocol::Request& request,
                                            const fs::path& folder) const {
  const int asked = request.cell.variant.threads;
  const std::string threads = std::to_string(asked > 0 ? asked : settings_.threads);
  doors::ProcessSpec spec{};
  spec.environment = settings_.environment;
  spec.environment.insert({{"LC_ALL", "C"},
                           {"HOME", folder.string()},
                           {"TMPDIR", folder.string()},
                           {"OMP_NUM_THREADS", threads},
                           {"MKL_NUM_THREADS", threads},
                           {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}});
  spec.working_folder = folder;
  spec.time_limit = std::chrono::milliseconds(request.limits.time_ms) + settings_.grace;
  spec.output_limit_bytes = settings_.output_limit_bytes;
  spec.memory_limit_bytes = request.limits.memory_bytes;
  spec.tag = request.attempt;
  spec.cpus = settings_.cpus;
  spec.own_session = true;
  return spec;
}

Result<RunOutcome> LocalExecutor::carry_out(const RunOrder& order, std::stop_source& stop) {
  TW_TRY(const AttemptFolder folder, AttemptFolder::create(scratch_, order));
  auto spec = make_spec(order.request, folder.path());
  spec.program = folder.runner();
  spec.arguments = {"measure", folder.request(), folder.result()};
  std::string& search_path = spec.environment["LD_LIBRARY_PATH"];
  search_path = folder.libraries().string() + (search_path.empty() ? "" : ":" + search_path);
  Status after_spawn;
  spec.on_started = [&](std::int64_t) {
    after_spawn = doors::failpoint("executor.after_spawn");
    if (!after_spawn) stop.request_stop();
  };
  const auto outcome = processes_.run(spec, stop.get_token());
  TW_TRY_VOID(after_spawn);
  TW_TRY_VOID(doors::failpoint("executor.before_result_read"));
  return judge(outcome, order.request, folder.result(), settings_.rounding);
}

Status LocalExecutor::sweep() {
  std::error_code error;
  if (!fs::exists(scratch_, error)) return {};
  for (fs::directory_iterator entry(scratch_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_leftover(entry->path())) fs::remove_all(entry->path(), error);
    if (error) break;
  }
  if (error) return fail(ErrorCode::unavailable, scratch_.string() + ": " + error.message());
  return {};
}

}  // namespace torchwatch::executor
