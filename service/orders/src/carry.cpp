#include "torchwatch/orders/carry.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>

#include "own_folder.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/orders/node_copies.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/records/unique_fd.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::orders {
namespace {

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

/// Sets the lane's idle clock back as long as this object lives: a run may take longer than a node
/// may be idle. The mark is the batch script's own file, or none.
class AtWork {
 public:
  AtWork()
      : mark_(open(("/tmp/torchwatch-lane-" + value_of("SLURM_JOB_ID")).c_str(),
                   O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
        toucher_([this](const std::stop_token& ended) { touch(ended); }) {}

 private:
  void touch(const std::stop_token& ended) const {
    constexpr std::chrono::seconds kPause{1};
    const platform::SystemClock clock;
    do {
      if (mark_.is_open()) futimens(mark_.get(), nullptr);
      clock.wait(kPause, ended);
    } while (!ended.stop_requested());
  }
  UniqueFd mark_;
  std::jthread toucher_;
};

Result<sandbox::Sandbox> open_sandbox(const CarrySettings& settings,
                                      process::ProcessRunner& processes) {
  if (settings.sandbox == "none") return sandbox::Sandbox();
  sandbox::Settings from;
  from.readable.assign(settings.readable.begin(), settings.readable.end());
  from.link_targets.assign(settings.link_targets.begin(), settings.link_targets.end());
  from.link_targets.push_back(settings.scratch);
  from.hidden.assign(settings.hidden.begin(), settings.hidden.end());
  from.hidden_with_copies.assign(settings.hidden_with_copies.begin(),
                                 settings.hidden_with_copies.end());
  from.search_path = process::kDefaultSearchPath;
  auto opened = sandbox::Sandbox::open(std::move(from), processes);
  if (opened || settings.sandbox == "bubblewrap") return opened;
  return sandbox::Sandbox();  // the fact `sandbox` of its results says so
}

executor::LocalExecutor::Settings executor_settings(const CarrySettings& from) {
  executor::LocalExecutor::Settings settings;
  settings.environment = executor::device_environment();
  settings.threads = from.threads;
  settings.bind_to_cores = process::may_raise_priority();
  settings.output_limit_bytes = static_cast<std::size_t>(from.output_limit_bytes);
  return settings;
}

using Carried = std::variant<std::vector<executor::RunOutcome>, Lack>;

Result<std::optional<Lack>> placed(const Order& order, const std::filesystem::path& scratch,
                                   executor::RunBlock& block) {
  if (order.copies.empty()) return std::optional<Lack>();
  TW_TRY(const auto copies, NodeCopies::open(scratch / "copies"));
  TW_TRY(auto hashes, copies.missing(order.copies));
  if (hashes.empty()) {
    TW_TRY_VOID(copies.place(order.copies, block));
    return std::optional<Lack>();
  }
  // Before there is more; what goes may be wanted.
  copies.keep_within(order.settings.copies_limit_bytes);
  TW_TRY(hashes, copies.missing(order.copies));
  return std::optional(Lack{.folder = copies.contents(), .hashes = std::move(hashes)});
}

Result<Carried> carried_out(const Order& order, std::stop_token stop) {
  TW_TRY(const auto lock, executor::MachineLock::acquire(order.settings.machine_lock));
  TW_TRY_VOID(make_own_folder(order.settings.scratch));
  const auto scratch = order.settings.scratch / node_name();
  TW_TRY_VOID(make_own_folder(scratch));
  auto block = order.block;
  TW_TRY(auto lack, placed(order, scratch, block));
  if (lack) return Carried(*std::move(lack));
  // Its start ends what a carry that died has left running.
  const auto processes = process::make_process_runner("torchwatch-carry " + scratch.string());
  auto settings = executor_settings(order.settings);
  TW_TRY(settings.sandbox, open_sandbox(order.settings, *processes));
  executor::LocalExecutor local(*processes, scratch, std::move(settings));
  TW_TRY_VOID(local.sweep());
  TW_TRY(auto outcomes, local.run_block(std::move(block), std::move(stop)));
  return Carried(std::move(outcomes));
}

}  // namespace

void carry(const Order& order, const std::function<void(const std::string&)>& say,
           std::stop_token stop) {
  const AtWork at_work;
  say(greeting_line(order, node_name()));
  const auto carried = carried_out(order, stop);
  if (stop.stop_requested()) return;
  if (!carried) return say(refusal_line(order, carried.error().text()));
  if (const auto* lack = std::get_if<Lack>(&*carried)) return say(lack_line(order, *lack));
  const auto& outcomes = std::get<std::vector<executor::RunOutcome>>(*carried);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    say(outcome_line(order.block.runs[i].request.attempt, outcomes[i]));
  }
  say(ended_line(order));
}

void carry(const ProcessOrder& order, const std::function<void(const std::string&)>& say,
           std::stop_token stop) {
  auto spec = order.spec;
  const auto jobs = spec.environment.find("TORCHWATCH_JOBS");
  if (order.uses_all_cores && jobs != spec.environment.end()) {
    jobs->second = std::to_string(std::max(1U, std::thread::hardware_concurrency()));
  }
  // Its start ends what a carry that died has left running.
  const auto processes = process::make_process_runner("torchwatch-carry " + spec.label);
  const auto outcome = processes->run(spec, stop);
  if (!stop.stop_requested()) say(process_ended_line(order, outcome));
}

}  // namespace torchwatch::orders
