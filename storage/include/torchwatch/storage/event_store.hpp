#pragma once

#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A change of state. Ids only grow, also over restarts; the database writes the rows itself, in
/// the transaction of the change.
struct EventRow {
  Id id = 0;
  std::string kind;   ///< comparison, incident, bisection, message or request
  std::string item;   ///< its id; of a message its key
  std::string state;  ///< that it has since then
};

/// The events that are kept, by their ids; 0 where there is none.
struct KeptEvents {
  Id oldest = 0;
  Id newest = 0;
};

/// The newest ten thousand changes of state. Thread-safe as Database is.
class EventStore {
 public:
  explicit EventStore(Database& database) : database_(database) {}

  Result<KeptEvents> kept();
  /// Returns at most `limit` events that came after that one, the oldest first.
  Result<std::vector<EventRow>> after(Id event, int limit);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
