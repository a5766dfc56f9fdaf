#include "child_posix.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "launcher_status.hpp"

namespace torchwatch::process {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kCleanEvery{5};

std::string read_what_is_there(const UniqueFd& fd) {
  std::array<char, 4096> block{};
  const ssize_t got = read(fd.get(), block.data(), block.size());
  return {block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

/// Reads how the child ended without reaping it: as long as it is a zombie, no other process group
/// can get its number.
ProcessEnd peek_end(pid_t pid) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0) {
    return SpawnFailed{"its exit status was taken by another waiter"};
  }
  if (info.si_code == CLD_EXITED) return Exited{info.si_status};
  return Signalled{info.si_status};
}

}  // namespace

Child::Child(const ProcessSpec& spec, SpawnedChild spawned, std::string tag,
             const SupervisorSettings& settings, Deliver deliver)
    : pid_(spawned.pid),
      process_(std::move(spawned.process)),
      output_(std::move(spawned.output)),
      status_(std::move(spawned.status)),
      settings_(settings),
      deliver_(std::move(deliver)),
      orphans_(pid_, std::move(tag)),
      output_limit_(spec.output_limit_bytes),
      memory_limit_(spec.memory_limit_bytes),
      start_(SteadyClock::now()),
      deadline_(start_ + spec.time_limit),
      due_(memory_limit_ > 0 ? start_ + settings.sample_every : TimePoint::max()) {
  if (!settings_.signal_group) {
    settings_.signal_group = [](pid_t group, int signal) { kill(-group, signal); };
  }
}

Child::TimePoint Child::due() const {
  return phase_ == Phase::running ? std::min(due_, deadline_) : std::min(due_, give_up_at_);
}

void Child::on_output() {
  std::array<char, 1U << 16U> block{};
  const ssize_t got = read(output_.get(), block.data(), block.size());
  if (got > 0) {
    keep_output({block.data(), static_cast<std::size_t>(got)});
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    output_.reset();
  }
  if (phase_ == Phase::draining && !output_.is_open()) due_ = SteadyClock::now();
}

void Child::keep_output(std::string_view bytes) {
  output_bytes_ += bytes.size();
  kept_output_ += bytes;
  if (kept_output_.size() > output_limit_) {
    kept_output_.erase(0, kept_output_.size() - output_limit_);
  }
  if (output_bytes_ > output_limit_) kill_now(OutputLimit{});
}

void Child::on_end() {
  has_ended_ = true;
  end_time_ = SteadyClock::now();
  if (why_) return start_cleaning(end_time_);
  why_ = own_end();
  phase_ = Phase::draining;
  due_ = output_.is_open() ? end_time_ + settings_.drain : end_time_;
}

ProcessEnd Child::own_end() const {
  ProcessEnd end = peek_end(pid_);
  return status_.is_open() ? end_of_launched(end, read_what_is_there(status_)) : end;
}

void Child::cancel() {
  terminate(Cancelled{});
}

void Child::end_at_once() {
  kill_now(Cancelled{});
}

/// Spares a launcher and the first process in its sandbox: with them the program would be killed,
/// before it can clean up.
void Child::ask_to_end() const {
  if (!status_.is_open()) return settings_.signal_group(pid_, SIGTERM);
  for (const ProcessEntry& entry : read_process_tree(pid_)) {
    if (entry.pid == pid_ || entry.parent == pid_) continue;
    const UniqueFd process = open_process(entry.pid);
    if (process.is_open()) signal_process(process, SIGTERM);
  }
}

void Child::terminate(ProcessEnd why) {
  if (phase_ != Phase::running) return;
  why_ = std::move(why);
  phase_ = Phase::terminating;
  due_ = SteadyClock::now() + settings_.grace;
  ask_to_end();
}

void Child::kill_now(ProcessEnd why) {
  if (phase_ != Phase::running && phase_ != Phase::terminating) return;
  if (!why_) why_ = std::move(why);
  phase_ = Phase::killing;
  const auto now = SteadyClock::now();
  give_up_at_ = now + settings_.give_up;
  due_ = now + settings_.kill_every;
  kill_tree();
}

void Child::kill_tree() {
  const auto orphans = orphans_.find(read_process_table());
  settings_.signal_group(pid_, SIGKILL);
  for (const ProcessEntry& orphan : orphans) {
    if (orphan.group != pid_ && !orphan.is_zombie()) kill_exactly(orphan);
  }
}

void Child::tick(TimePoint now, const std::set<pid_t>& leaders) {
  if (now >= give_up_at_) {
    give_up_at_ = TimePoint::max();
    deliver(Abandoned{});
  }
  switch (phase_) {
    case Phase::running:
      if (now >= deadline_) return terminate(TimedOut{});
      if (now >= due_) check_memory();
      break;
    case Phase::terminating:
      if (now >= due_) kill_now(TimedOut{});
      break;
    case Phase::killing:
      if (now < due_) break;
      due_ = now + settings_.kill_every;
      kill_tree();
      break;
    case Phase::draining:
      if (now < due_) break;
      pipe_held_ = output_.is_open();
      start_cleaning(now);
      [[fallthrough]];
    case Phase::cleaning:
      if (now >= due_) clean(now, leaders);
      break;
    case Phase::gone:
      break;
  }
}

void Child::check_memory() {
  due_ = SteadyClock::now() + settings_.sample_every;
  const auto tree = read_process_tree(pid_);
  orphans_.remember(tree);
  // Shared pages counted whole are an upper bound that costs little; the exact share, which
  // makes the kernel walk the child's page tables, is asked for only when it can matter.
  const auto sum = [&tree](auto measure) {
    std::int64_t bytes = 0;
    for (const ProcessEntry& entry : tree) bytes += measure(entry.pid);
    return bytes;
  };
  if (sum(resident_bytes) <= memory_limit_) return;
  const std::int64_t bytes = sum(proportional_bytes);
  if (bytes > memory_limit_) kill_now(MemoryLimit{bytes});
}

void Child::start_cleaning(TimePoint now) {
  phase_ = Phase::cleaning;
  due_ = now;
  if (deliver_) give_up_at_ = now + settings_.give_up;
}

void Child::clean(TimePoint now, const std::set<pid_t>& leaders) {
  settings_.signal_group(pid_, SIGKILL);
  const auto table = read_process_table();
  const auto orphans = orphans_.find(table);
  bool is_clean = true;
  for (const ProcessEntry& orphan : orphans) {
    if (orphan.is_zombie()) continue;
    is_clean = false;
    kill_exactly(orphan);
  }
  reap_adopted(table, leaders);
  if (!is_clean) {
    due_ = now + (deliver_ ? kCleanEvery : settings_.kill_every);
    return;
  }
  waitpid(pid_, nullptr, WNOHANG);
  phase_ = Phase::gone;
  deliver(std::move(*why_));
}

void Child::deliver(ProcessEnd end) {
  if (!deliver_) return;
  if (auto* const failed = std::get_if<SpawnFailed>(&end); failed != nullptr && status_.is_open()) {
    failed->reason += ": " + kept_output_.substr(0, kept_output_.find('\n'));
  }
  ProcessOutcome outcome;
  outcome.end = std::move(end);
  outcome.output = std::move(kept_output_);
  outcome.pipe_held = pipe_held_;
  outcome.duration = (has_ended_ ? end_time_ : SteadyClock::now()) - start_;
  std::exchange(deliver_, nullptr)(std::move(outcome));
}

}  // namespace torchwatch::process
