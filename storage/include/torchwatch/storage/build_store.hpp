#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Builds that are known. Thread-safe as Database is.
class BuildStore {
 public:
  explicit BuildStore(Database& database) : database_(database) {}

  /// The build of that origin and name, made known if it was not. Idempotent.
  Result<BuildRow> discovered(BuildOrigin, const std::string& name);
  /// The tree lies in `row.folder`, complete and checked. If the build was ready with another
  /// content hash, a new row is made (the file was re-published) and returned.
  Result<BuildRow> became_ready(const BuildRow& row);
  Result<BuildRow> was_rejected(Id, const std::string& reason);

  Result<BuildRow> get(Id);
  Result<std::vector<BuildRow>> list();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
