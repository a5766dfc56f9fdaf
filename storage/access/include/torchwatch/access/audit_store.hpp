#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What was asked for and done, and by whom. Thread-safe as Database is.
class AuditStore {
 public:
  explicit AuditStore(Database& database) : database_(database) {}

  Status add(const AuditRow&);
  Result<std::vector<AuditRow>> list(int limit, Id before = INT64_MAX);  ///< newest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
