#include "child_posix.hpp"

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

/// Reads how a process ended without reaping it: as long as it is a zombie, no other process group
/// can get its number.
ProcessEnd peek_end(pid_t pid) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) != 0) {
    return SpawnFailed{"its exit status was taken by another waiter"};
  }
  if (info.si_code == CLD_EXITED) return Exited{info.si_status};
  return Signalled{info.si_status};
}

/// `status` is open if the child is a launcher: what counts is then its program's end.
ProcessEnd end_of(pid_t pid, const UniqueFd& status) {
  ProcessEnd end = peek_end(pid);
  return status.is_open() ? end_of_launched(end, read_what_is_there(status)) : end;
}

}  // namespace

void ChildOutput::read() {
  std::array<char, 1U << 16U> block{};
  const ssize_t got = ::read(pipe_.get(), block.data(), block.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) pipe_.reset();
  if (got <= 0) return;
  if (pass_on_) return pass_on_({block.data(), static_cast<std::size_t>(got)});
  printed_bytes_ += static_cast<std::size_t>(got);
  kept_.append(block.data(), static_cast<std::size_t>(got));
  if (kept_.size() > limit_bytes_) kept_.erase(0, kept_.size() - limit_bytes_);
}

Child::Child(const ProcessSpec& spec, SpawnedChild spawned, std::string tag,
             const SupervisorSettings& settings, Deliver deliver)
    : pid_(spawned.pid),
      process_(std::move(spawned.process)),
      output_(std::move(spawned.output), spec.output_limit_bytes, spec.on_output),
      status_(std::move(spawned.status)),
      settings_(settings),
      deliver_(std::move(deliver)),
      tree_(pid_, std::move(tag), status_.is_open(), settings.signal_group),
      memory_limit_(spec.memory_limit_bytes),
      start_(SteadyClock::now()),
      deadline_(start_ + spec.time_limit),
      due_(memory_limit_ > 0 ? start_ + settings.sample_every : TimePoint::max()) {}

Child::TimePoint Child::due() const {
  return phase_ == Phase::running ? std::min(due_, deadline_) : std::min(due_, give_up_at_);
}

void Child::on_output() {
  output_.read();
  if (output_.is_over_limit()) kill_now(OutputLimit{});
  if (phase_ == Phase::draining && !output_.is_open()) due_ = SteadyClock::now();
}

void Child::on_end() {
  has_ended_ = true;
  end_time_ = SteadyClock::now();
  if (why_) return start_cleaning(end_time_);
  why_ = end_of(pid_, status_);
  phase_ = Phase::draining;
  due_ = output_.is_open() ? end_time_ + settings_.drain : end_time_;
}

void Child::cancel() {
  terminate(Cancelled{});
}

void Child::end_at_once() {
  kill_now(Cancelled{});
}

void Child::terminate(ProcessEnd why) {
  if (phase_ != Phase::running) return;
  why_ = std::move(why);
  phase_ = Phase::terminating;
  due_ = SteadyClock::now() + settings_.grace;
  tree_.ask_to_end();
}

void Child::kill_now(ProcessEnd why) {
  if (phase_ != Phase::running && phase_ != Phase::terminating) return;
  if (!why_) why_ = std::move(why);
  phase_ = Phase::killing;
  const auto now = SteadyClock::now();
  give_up_at_ = now + settings_.give_up;
  due_ = now + settings_.kill_every;
  tree_.kill();
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
      tree_.kill();
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
  if (const auto bytes = tree_.bytes_over(memory_limit_)) kill_now(MemoryLimit{*bytes});
}

void Child::start_cleaning(TimePoint now) {
  phase_ = Phase::cleaning;
  due_ = now;
  if (deliver_) give_up_at_ = now + settings_.give_up;
}

void Child::clean(TimePoint now, const std::set<pid_t>& leaders) {
  if (!tree_.clean(leaders)) {
    due_ = now + (deliver_ ? kCleanEvery : settings_.kill_every);
    return;
  }
  waitpid(pid_, nullptr, WNOHANG);
  phase_ = Phase::gone;
  deliver(std::move(*why_));
}

void Child::deliver(ProcessEnd end) {
  if (!deliver_) return;
  ProcessOutcome outcome;
  outcome.output = output_.take();
  if (auto* const failed = std::get_if<SpawnFailed>(&end); failed != nullptr && status_.is_open()) {
    failed->reason += ": " + outcome.output.substr(0, outcome.output.find('\n'));
  }
  outcome.end = std::move(end);
  outcome.pipe_held = pipe_held_;
  outcome.duration = (has_ended_ ? end_time_ : SteadyClock::now()) - start_;
  std::exchange(deliver_, nullptr)(std::move(outcome));
}

}  // namespace torchwatch::process
