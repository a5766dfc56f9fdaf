#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace torchwatch::platform {

/// Lets one thread sleep until others have something for it. Thread-safe.
class Sleeper {
 public:
  void wake();
  /// Returns whether it was woken, now or since it last slept, before `limit` or a stop.
  bool sleep(std::chrono::seconds limit, const std::stop_token&);

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool woken_ = false;
};

/// Does the same again and again in a thread of its own, off the core of timed runs: at once, each
/// time it is woken, and otherwise after `rest`. Its end stops the round at work and joins.
class Rounds {
 public:
  using Round = std::function<void(const std::stop_token&)>;

  /// `round` must not throw.
  Rounds(std::chrono::seconds rest, Round round);
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  /// There is something to do. Thread-safe; does not block.
  void wake() { sleeper_.wake(); }

 private:
  Sleeper sleeper_;
  std::jthread thread_;  ///< last: it ends before what it uses
};

}  // namespace torchwatch::platform
