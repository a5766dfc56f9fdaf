#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>

#include "torchwatch/signals/interrupts.hpp"

namespace torchwatch::signals {

/// What the one who shows the progress does of a signal.
enum class Order {
  say_state,     ///< say what is being done
  say_last_run,  ///< say that the work ends with the run that is under way
};

class Listening;

/// What signals ask of a command. Thread-safe.
class Orders {
 public:
  Orders() : last_run_(stop_) {}

  /// What ends the command's work.
  std::stop_token stop() const { return stop_.get_token(); }
  /// For the services of a command that measures.
  signals::LastRun& last_run() { return last_run_; }

  /// Takes a signal that arrived then. SIGUSR1: the state is said. SIGINT: the run that is under
  /// way is the last one; the second, or one while none is under way, and each other signal stop
  /// the work at once. Returns false when the process is to end where it is: its work is stopped
  /// already. A signal that came to the process and to its group, as timeout(1) sends it, is one.
  /// From one thread.
  bool take(int signal, std::chrono::steady_clock::time_point at);

 private:
  friend class Listening;
  void tell(Order);

  std::stop_source stop_;
  signals::LastRun last_run_;
  int stopped_by_ = 0;  ///< the signal that stopped the work; 0: none did yet
  std::chrono::steady_clock::time_point stopped_at_;
  std::mutex mutex_;
  std::function<void(Order)> listener_;  ///< guarded by mutex_
};

/// Has a listener called with each order as long as the object lives, from the thread that takes
/// signals. One at a time: the newest.
class Listening {
 public:
  /// `orders`: null where nobody gives any.
  Listening(Orders* orders, std::function<void(Order)> listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Orders* const orders_;
};

}  // namespace torchwatch::signals
