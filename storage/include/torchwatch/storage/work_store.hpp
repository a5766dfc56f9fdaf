#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// On which items the process works that works on the database; one may be a part of another.
/// Thread-safe as Database is.
class WorkStore {
 public:
  explicit WorkStore(Database& database) : database_(database) {}

  /// Returns the number under which `end` knows the item.
  Result<Id> begin(const ItemKey&);
  Status end(Id);
  /// Returns what an earlier process worked on when it died, the innermost item, and forgets it;
  /// nothing if it ended in good order. Call at start.
  Result<std::optional<ItemKey>> take_left();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
