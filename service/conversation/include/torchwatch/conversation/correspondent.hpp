#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "torchwatch/conversation/inbox.hpp"

namespace torchwatch::conversation {

/// Works an inbox in a thread of its own, so that a comment is seen while the machine measures.
class Correspondent {
 public:
  /// Notes why GitHub cannot be read, and "" once it can. Called from the thread.
  using Note = std::function<void(const std::string& problem)>;

  Correspondent(Parts, Note);
  ~Correspondent();  ///< stops and joins
  Correspondent(const Correspondent&) = delete;
  Correspondent& operator=(const Correspondent&) = delete;

  /// Something was received. Thread-safe; does not block.
  void wake();

 private:
  void run(const std::stop_token& stop);
  void work(const std::stop_token& stop);

  Inbox inbox_;
  const Note note_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool is_woken_ = false;
  std::jthread thread_;  ///< last: it ends before what it uses
};

}  // namespace torchwatch::conversation
