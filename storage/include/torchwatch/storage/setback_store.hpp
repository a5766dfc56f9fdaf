#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// How often an item's own work may fail.
inline constexpr int kTriesMax = 3;

/// What items of work wait for that have not ended. Thread-safe as Database is.
class SetbackStore {
 public:
  explicit SetbackStore(Database& database) : database_(database) {}

  Result<std::optional<SetbackRow>> find(const ItemKey&);
  /// Stores the item's setback in place of an earlier one.
  Status record(const SetbackRow&);
  /// Removes the item's setback, if it has one: it went on, or it ended.
  Status clear(const ItemKey&);
  Result<std::vector<SetbackRow>> list();  ///< the oldest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
