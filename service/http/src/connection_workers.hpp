#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "admission.hpp"

namespace torchwatch::http {

/// A pool of threads that serve connections one after the other. Threads start when they are
/// needed: an idle daemon has none. Thread-safe.
class ConnectionWorkers {
 public:
  using Serve = std::function<void(Admission::Connection&)>;

  ConnectionWorkers(std::size_t threads_max, Serve serve);
  ConnectionWorkers(const ConnectionWorkers&) = delete;
  ConnectionWorkers& operator=(const ConnectionWorkers&) = delete;
  ~ConnectionWorkers();  ///< joins; waiting connections are closed

  void add(Admission::Connection connection);

 private:
  std::optional<Admission::Connection> next();
  void work();

  const std::size_t threads_max_;
  const Serve serve_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Admission::Connection> waiting_;
  std::size_t idle_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace torchwatch::http
