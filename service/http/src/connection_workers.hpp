#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "client.hpp"

namespace torchwatch::http {

/// A pool of threads that serve one request at a time. All threads start at once: a machine that
/// has none to spare later keeps those it has. `add` belongs to one thread.
class ConnectionWorkers {
 public:
  using Serve = std::function<void(std::unique_ptr<Client>)>;
  /// Starts a thread, or throws std::system_error.
  using Spawn = std::function<std::thread(std::function<void()>)>;

  ConnectionWorkers(std::size_t threads, Serve serve, Spawn spawn);
  ConnectionWorkers(const ConnectionWorkers&) = delete;
  ConnectionWorkers& operator=(const ConnectionWorkers&) = delete;
  ~ConnectionWorkers();  ///< joins; waiting clients are let go

  /// Takes a client over, unless no thread could be started; then it stays where it is. Tries from
  /// time to time to start the threads that are missing.
  bool add(std::unique_ptr<Client>&);
  std::size_t missing() const { return wanted_ - threads_.size(); }

 private:
  void start_missing();
  std::unique_ptr<Client> next();
  void work();

  const std::size_t wanted_;
  const Serve serve_;
  const Spawn spawn_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Client>> waiting_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
  Client::Clock::time_point start_again_at_;
};

}  // namespace torchwatch::http
