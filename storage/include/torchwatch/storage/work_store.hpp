#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What a process worked on when it died.
struct LeftWork {
  ItemKey key;  ///< the innermost item
  /// Results or steps of a search were stored since that work began: it was no fault of the item's.
  bool got_further = false;
};

/// On which items the process works that works on the database; one may be a part of another.
/// Thread-safe as Database is.
class WorkStore {
 public:
  explicit WorkStore(Database& database) : database_(database) {}

  /// Returns the number under which `end` knows the item.
  Result<Id> begin(const ItemKey&);
  Status end(Id);
  /// Returns what an earlier process worked on when it died, and forgets it; nothing if it ended in
  /// good order. Call at start.
  Result<std::optional<LeftWork>> take_left();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
