#pragma once

#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "child_posix.hpp"

namespace torchwatch::process {

/// The one thread that forks, watches, signals and reaps. It lives as long as this object: the
/// kernel kills a child (PDEATHSIG) when the thread that forked it ends.
class Supervisor {
 public:
  Supervisor(std::string owner, SupervisorSettings);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  ProcessOutcome run(const ProcessSpec&, std::stop_token stop);

 private:
  struct Job {
    ProcessSpec spec;
    std::promise<ProcessOutcome> outcome;
    std::atomic<bool> is_cancelled = false;
  };
  struct Running {
    std::shared_ptr<Job> job;
    std::unique_ptr<Child> child;
  };

  void wake() const;
  void loop(const std::stop_token& stop);
  void start_queued(bool is_stopping);
  void start(std::shared_ptr<Job> job);
  void wait_for_events();
  void step(bool is_stopping);
  bool has_work() const;
  const Child* abandoned() const;
  std::set<pid_t> leaders() const;

  std::string owner_;
  SupervisorSettings settings_;
  ProcessTag tag_;
  UniqueFd wake_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> queue_;  ///< guarded by mutex_
  bool is_closed_ = false;                   ///< guarded by mutex_
  std::list<Running> running_;               ///< the thread's own
  std::jthread thread_;                      ///< last: it uses all of the above
};

}  // namespace torchwatch::process
