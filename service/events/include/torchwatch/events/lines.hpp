#pragma once

#include <condition_variable>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <thread>

#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::events {

/// Prints each change of state as it happens, from a thread of its own: one line of JSON each, the
/// object that the feed sends as an event's data.
class Lines {
 public:
  /// Prints what happens from now on. The database and the stream must outlive it; nobody else
  /// writes to the stream meanwhile. Errors: of storage; unavailable (no thread).
  static Result<std::unique_ptr<Lines>> start(storage::Database&, std::ostream&);
  /// Prints what has happened up to now, and ends.
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

 private:
  Lines(storage::Database& database, std::ostream& out, storage::Id newest)
      : database_(database), out_(out), printed_(newest) {}

  void run(const std::stop_token& stop);
  void print_new();

  storage::Database& database_;
  std::ostream& out_;
  storage::Id printed_;  ///< the newest event that needs no line; the thread's alone
  std::mutex mutex_;
  std::condition_variable_any committed_;
  bool has_committed_ = false;  ///< guarded by mutex_
  storage::Listening listening_;
  std::jthread thread_;
};

}  // namespace torchwatch::events
