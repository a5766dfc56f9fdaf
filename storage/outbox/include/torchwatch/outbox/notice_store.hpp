#pragma once

#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Up to which event each receiver has notices. Thread-safe as Database is.
class NoticeStore {
 public:
  explicit NoticeStore(Database& database) : database_(database) {}

  /// Returns the last event of which the receiver has its notices. A new receiver gets those of
  /// what comes after the newest event, not of the past.
  Result<Id> told(const std::string& receiver);
  /// Notes that the receiver has the notices of that event and all before. Call it in the
  /// transaction that queues the messages.
  Status note(const std::string& receiver, Id event);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
