#include "torchwatch/executor/local_executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <thread>
#include <utility>

#include "attempt_folder.hpp"
#include "placement_prefix.hpp"
#include "run_judgement.hpp"
#include "torchwatch/doors/failpoint.hpp"
#include "turn_pipes.hpp"

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

std::array<protocol::Turns, 2> turns_of(const fs::path& scratch,
                                        const std::array<RunOrder, 2>& orders) {
  const auto first = AttemptFolder::path_of(scratch, orders[0]) / "turn";
  const auto second = AttemptFolder::path_of(scratch, orders[1]) / "turn";
  return {protocol::Turns{first, second, true}, protocol::Turns{second, first, false}};
}

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kAttemptPrefix) || name.starts_with(kPlacedPrefix);
}

}  // namespace

/// The machine, for one run or for two that take turns.
class LocalExecutor::Hold {
 public:
  /// Waits until nothing else runs. Errors: cancelled.
  static Result<Hold> take(LocalExecutor& executor, std::stop_token stop) {
    std::unique_lock lock(executor.mutex_);
    executor.turn_.wait(lock, stop, [&] { return !executor.is_busy_; });
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
    executor_->turn_.notify_one();
  }

 private:
  explicit Hold(LocalExecutor& executor) : executor_(&executor) {}
  LocalExecutor* executor_;
};

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

void LocalExecutor::forget(RunId id) {
  const std::scoped_lock lock(mutex_);
  runs_.erase(id);
}

Result<RunOutcome> LocalExecutor::wait(RunId id, std::stop_token stop) {
  TW_TRY(const auto run, find(id));
  const std::stop_callback forward(stop, [&run] { run->stop.request_stop(); });
  const auto hold = Hold::take(*this, run->stop.get_token());
  forget(id);
  if (!hold) return fail(hold.error());
  TW_TRY(const AttemptFolder folder, AttemptFolder::create(scratch_, run->order));
  return carry_out(run->order, folder, run->stop);
}

Result<std::array<RunOutcome, 2>> LocalExecutor::run_in_turns(std::array<RunOrder, 2> orders,
                                                              std::stop_token stop) {
  for (const auto& order : orders) TW_TRY_VOID(check(order));
  std::stop_source end;
  const std::stop_callback forward(stop, [&end] { end.request_stop(); });
  TW_TRY(const Hold hold, Hold::take(*this, end.get_token()));

  const auto turns = turns_of(scratch_, orders);
  for (std::size_t i = 0; i < orders.size(); ++i) orders[i].request.turns = turns[i];
  TW_TRY(const AttemptFolder first, AttemptFolder::create(scratch_, orders[0]));
  TW_TRY(const AttemptFolder second, AttemptFolder::create(scratch_, orders[1]));
  TW_TRY(const TurnPipes pipes, TurnPipes::create(turns));

  std::array<std::optional<Result<RunOutcome>>, 2> outcomes;
  const auto run = [&](std::size_t index, const AttemptFolder& folder) {
    outcomes[index] = carry_out(orders[index], folder, end);
    pipes.tell_ended(index);
  };
  {
    const std::jthread other([&] { run(1, second); });
    run(0, first);
  }
  TW_TRY(auto outcome, std::move(*outcomes[0]));
  TW_TRY(auto outcome_of_other, std::move(*outcomes[1]));
  return std::array{std::move(outcome), std::move(outcome_of_other)};
}

Status LocalExecutor::cancel(RunId id) {
  TW_TRY(const auto run, find(id));
  run->stop.request_stop();
  return {};
}

doors::ProcessSpec LocalExecutor::make_spec(const protocol::Request& request,
                                            const fs::path& folder) const {
  const int asked = request.cell.variant.threads;
  const int threads = asked > 0 ? asked : settings_.threads;
  doors::ProcessSpec spec{};
  spec.environment = settings_.environment;
  spec.environment.insert({{"LC_ALL", "C"},
                           {"HOME", folder.string()},
                           {"TMPDIR", folder.string()},
                           {"OMP_NUM_THREADS", std::to_string(threads)},
                           {"MKL_NUM_THREADS", std::to_string(threads)},
                           {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}});
  const bool on_cpu = request.cell.configuration.device == Device::cpu;
  if (settings_.bind_threads && threads > 1 && on_cpu) {
    spec.environment.insert({{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}});
  }
  spec.working_folder = folder;
  spec.time_limit = std::chrono::milliseconds(request.limits.time_ms) + settings_.grace;
  spec.output_limit_bytes = settings_.output_limit_bytes;
  spec.memory_limit_bytes = request.limits.memory_bytes;
  spec.tag = request.attempt;
  spec.cpus = settings_.cpus;
  spec.own_session = true;
  return spec;
}

Result<RunOutcome> LocalExecutor::carry_out(const RunOrder& order, const AttemptFolder& folder,
                                            std::stop_source& stop) {
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
