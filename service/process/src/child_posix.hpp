#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "child_tree_posix.hpp"
#include "spawn_posix.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::process {

/// How patient the supervisor is, and how it signals (a test's way to a child that does not die).
struct SupervisorSettings {
  std::chrono::milliseconds grace{500};         ///< between SIGTERM and SIGKILL
  std::chrono::milliseconds drain{200};         ///< for output after the child has ended
  std::chrono::milliseconds give_up{30'000};    ///< after SIGKILL
  std::chrono::milliseconds kill_every{1000};   ///< again, until it is gone
  std::chrono::milliseconds sample_every{100};  ///< memory of the tree
  SignalGroup signal_group;                     ///< default: kill(-group, signal)
};

/// What a child prints: all of it is counted, the end of it kept; or all of it is passed on.
class ChildOutput {
 public:
  using PassOn = std::function<void(std::string_view)>;
  /// `pipe`: its stdout and stderr, non-blocking.
  ChildOutput(UniqueFd pipe, std::size_t limit_bytes, PassOn pass_on)
      : pipe_(std::move(pipe)), limit_bytes_(limit_bytes), pass_on_(std::move(pass_on)) {}

  /// The descriptor to poll; -1 once nothing more can come.
  int descriptor() const { return pipe_.get(); }
  bool is_open() const { return pipe_.is_open(); }
  /// Reads what is there, 64 KiB at most.
  void read();
  /// Whether more was printed than `limit_bytes`.
  bool is_over_limit() const { return printed_bytes_ > limit_bytes_; }
  /// Hands out the last `limit_bytes` of what was read.
  std::string take() { return std::exchange(kept_, {}); }

 private:
  UniqueFd pipe_;
  std::size_t limit_bytes_;
  PassOn pass_on_;
  std::size_t printed_bytes_ = 0;
  std::string kept_;
};

/// One running child, from its start until nothing of it is left. Driven by the supervisor: by
/// its two descriptors and by time. Nothing here blocks.
class Child {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Deliver = std::function<void(ProcessOutcome)>;

  Child(const ProcessSpec&, SpawnedChild, std::string tag, const SupervisorSettings&, Deliver);

  /// Descriptors to poll; -1 where there is nothing more to come.
  int output() const { return output_.descriptor(); }
  int process() const { return has_ended_ ? -1 : process_.get(); }
  TimePoint due() const;

  void on_output();
  void on_end();
  void cancel();
  void end_at_once();  ///< the daemon is going: no grace
  void tick(TimePoint now, const std::set<pid_t>& leaders);

  pid_t pid() const { return pid_; }
  bool is_gone() const { return phase_ == Phase::gone; }
  bool is_abandoned() const { return !deliver_ && !is_gone(); }

 private:
  enum class Phase {
    running,
    terminating,  ///< SIGTERM sent
    killing,      ///< SIGKILL sent
    draining,     ///< ended by itself; its output may still be under way
    cleaning,     ///< ended; what it left behind is killed before it is reaped
    gone,
  };

  void terminate(ProcessEnd why);
  void kill_now(ProcessEnd why);
  void start_cleaning(TimePoint now);
  void clean(TimePoint now, const std::set<pid_t>& leaders);
  void check_memory();
  void deliver(ProcessEnd end);

  pid_t pid_;
  UniqueFd process_;
  ChildOutput output_;
  UniqueFd status_;  ///< of a launcher; else not open
  SupervisorSettings settings_;
  Deliver deliver_;  ///< empty once delivered
  ChildTree tree_;
  std::int64_t memory_limit_;

  TimePoint start_;
  TimePoint deadline_;
  TimePoint due_;  ///< of the phase
  TimePoint give_up_at_ = TimePoint::max();
  TimePoint end_time_;
  Phase phase_ = Phase::running;
  std::optional<ProcessEnd> why_;  ///< decided by us, before the child ended
  bool has_ended_ = false;
  bool pipe_held_ = false;
};

}  // namespace torchwatch::process
