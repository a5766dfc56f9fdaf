#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "torchwatch/conversation/inbox.hpp"
#include "torchwatch/platform/rounds.hpp"

namespace torchwatch::conversation {

/// Works an inbox in a thread of its own, so that a comment is seen while the machine measures.
class Correspondent {
 public:
  /// Notes why GitHub cannot be read, and "" once it can. Called from the thread.
  using Note = std::function<void(const std::string& problem)>;

  Correspondent(Parts, Note);

  /// Something was received. Thread-safe; does not block.
  void wake() { rounds_.wake(); }

 private:
  void work(const std::stop_token& stop);

  const std::chrono::seconds rest_;  ///< at most, from one round to the next
  Inbox inbox_;
  const Note note_;
  platform::Rounds rounds_;  ///< last: it ends before what it uses
};

}  // namespace torchwatch::conversation
