#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Bisections and their events. Thread-safe as Database is.
class BisectionStore {
 public:
  explicit BisectionStore(Database& database) : database_(database) {}

  /// Stores a new bisection and returns it with its id. Errors: conflict, when its incident has an
  /// open bisection.
  Result<BisectionRow> open(const BisectionRow&);
  /// Appends an event; `ordinal` counts from 0. Errors: conflict, when it is not the next one or
  /// the bisection has ended.
  Status append(Id bisection, const BisectionEventRow&);
  Result<std::vector<BisectionEventRow>> events_of(Id bisection);
  /// Ends the bisection with its result. Errors: conflict, when it has ended.
  Status end(const BisectionRow&, const std::string& result_json, WallMillis now);

  Result<BisectionRow> get(Id);
  Result<std::vector<BisectionRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  /// Returns those that are to be carried out, oldest first. The first search of an incident whose
  /// comparison was cancelled rests until that is made due again.
  Result<std::vector<BisectionRow>> unfinished();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
