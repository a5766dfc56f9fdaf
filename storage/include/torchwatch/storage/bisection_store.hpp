#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Searches for culprits and what has happened in them.
class BisectionStore {
 public:
  explicit BisectionStore(Database& database) : database_(database) {}

  Result<BisectionRow> opened(const BisectionRow&);
  /// Appends an event; `ordinal` counts from 0 and must be the next one (conflict otherwise).
  Status happened(Id bisection, const BisectionEventRow&);
  Result<std::vector<BisectionEventRow>> events_of(Id bisection);
  Status ended(const BisectionRow&, const std::string& answer_json, WallMillis now);

  Result<BisectionRow> get(Id);
  Result<std::vector<BisectionRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<BisectionRow>> open_ones();                             ///< oldest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
