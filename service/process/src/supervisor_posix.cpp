#include "supervisor_posix.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace torchwatch::process {
namespace {

using SteadyClock = std::chrono::steady_clock;

ProcessOutcome not_started(std::string reason) {
  ProcessOutcome outcome;
  outcome.end = SpawnFailed{std::move(reason)};
  return outcome;
}

ProcessOutcome cancelled() {
  ProcessOutcome outcome;
  outcome.end = Cancelled{};
  return outcome;
}

ProcessTag own_tag() {
  ProcessTag tag;
  tag.daemon = getpid();
  if (const auto self = read_process(getpid())) tag.daemon_start_ticks = self->start_ticks;
  return tag;
}

UniqueFd make_wake_event() {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) {
    std::perror("torchwatch: eventfd");
    std::abort();  // at start of the program: there is no state to lose
  }
  return event;
}

timespec until(SteadyClock::time_point due) {
  using std::chrono::nanoseconds;
  constexpr nanoseconds kLongest = std::chrono::hours(1);
  const auto now = SteadyClock::now();
  const nanoseconds left = due <= now ? nanoseconds(0) : std::min<nanoseconds>(due - now, kLongest);
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  return {.tv_sec = left.count() / kPerSecond, .tv_nsec = left.count() % kPerSecond};
}

/// A thread inherits its creator's mask: signals go to the other threads of the daemon.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Supervisor::Supervisor(std::string owner, SupervisorSettings settings)
    : owner_(std::move(owner)),
      settings_(std::move(settings)),
      tag_(own_tag()),
      wake_(make_wake_event()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_DFL);  // a parent may hand down "ignore", and then exit statuses are lost
  const SignalsBlocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { loop(stop); });
}

Supervisor::~Supervisor() {
  thread_.request_stop();
  wake();
}

ProcessOutcome Supervisor::run(const ProcessSpec& spec, std::stop_token stop) {
  if (spec.time_limit.count() <= 0) return not_started("no time limit is set for it");
  if (stop.stop_requested()) return cancelled();
  auto job = std::make_shared<Job>();
  job->spec = spec;
  auto outcome = job->outcome.get_future();
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_) return not_started("this program is shutting down");
    queue_.push_back(job);
  }
  wake();
  const std::stop_callback on_stop(stop, [this, &job] {
    job->is_cancelled = true;
    wake();
  });
  return outcome.get();
}

void Supervisor::wake() const {
  const std::uint64_t one = 1;
  // Full (never, in practice) means that the thread is about to look anyway.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void Supervisor::loop(const std::stop_token& stop) {
  for (;;) {
    const bool is_stopping = stop.stop_requested();
    start_queued(is_stopping);
    step(is_stopping);
    if (is_stopping && !has_work()) return;
    wait_for_events();
  }
}

void Supervisor::start_queued(bool is_stopping) {
  std::vector<std::shared_ptr<Job>> queued;
  {
    const std::scoped_lock lock(mutex_);
    queued.swap(queue_);
    is_closed_ = is_stopping;
  }
  for (auto& job : queued) {
    if (is_stopping) {
      job->outcome.set_value(not_started("this program is shutting down"));
    } else {
      start(std::move(job));
    }
  }
}

void Supervisor::start(std::shared_ptr<Job> job) {
  if (job->is_cancelled) return job->outcome.set_value(cancelled());
  if (const Child* const ghost = abandoned()) {
    return job->outcome.set_value(
        not_started("process " + std::to_string(ghost->pid()) +
                    " of an earlier run does not die of SIGKILL and would share the machine; "
                    "restart this machine"));
  }
  ++tag_.serial;
  auto spawned = spawn(job->spec, owner_, tag_);
  if (!spawned) return job->outcome.set_value(not_started(spawned.error()));
  const pid_t pid = spawned->pid;
  auto deliver = [job](ProcessOutcome outcome) { job->outcome.set_value(std::move(outcome)); };
  auto child = std::make_unique<Child>(job->spec, std::move(*spawned), to_string(tag_), settings_,
                                       std::move(deliver));
  running_.push_back({.job = job, .child = std::move(child)});
  if (job->spec.on_started) job->spec.on_started(pid);
}

void Supervisor::wait_for_events() {
  std::vector<pollfd> events{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  auto due = SteadyClock::time_point::max();
  for (const Running& running : running_) {
    events.push_back({.fd = running.child->output(), .events = POLLIN, .revents = 0});
    events.push_back({.fd = running.child->process(), .events = POLLIN, .revents = 0});
    due = std::min(due, running.child->due());
  }
  const timespec patience = until(due);
  if (ppoll(events.data(), events.size(), &patience, nullptr) <= 0) return;
  std::uint64_t wakes = 0;
  [[maybe_unused]] const ssize_t got = read(wake_.get(), &wakes, sizeof(wakes));
  std::size_t at = 1;
  for (const Running& running : running_) {
    // Output before the end, so that what a child wrote last is not taken for late output.
    if (events[at].revents != 0) running.child->on_output();
    if (events[at + 1].revents != 0) running.child->on_end();
    at += 2;
  }
}

void Supervisor::step(bool is_stopping) {
  const auto group_leaders = leaders();
  const auto now = SteadyClock::now();
  for (Running& running : running_) {
    if (running.job->is_cancelled) running.child->cancel();
    if (is_stopping) running.child->end_at_once();
    running.child->tick(now, group_leaders);
  }
  running_.remove_if([](const Running& running) { return running.child->is_gone(); });
}

bool Supervisor::has_work() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& running) { return !running.child->is_abandoned(); });
}

const Child* Supervisor::abandoned() const {
  for (const Running& running : running_) {
    if (running.child->is_abandoned()) return running.child.get();
  }
  return nullptr;
}

std::set<pid_t> Supervisor::leaders() const {
  std::set<pid_t> pids;
  for (const Running& running : running_) pids.insert(running.child->pid());
  return pids;
}

}  // namespace torchwatch::process
