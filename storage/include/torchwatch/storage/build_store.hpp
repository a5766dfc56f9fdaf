#pragma once

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// The known builds. Thread-safe as Database is.
class BuildStore {
 public:
  explicit BuildStore(Database& database) : database_(database) {}

  /// Returns the build of that origin and name, stored as discovered if it is new. Idempotent.
  Result<BuildRow> discover(BuildOrigin, const std::string& name);
  /// Marks a build whose tree lies in `row.folder`, complete and checked. If the build was ready
  /// with another content hash, the file was re-published: a new row is stored and returned.
  Result<BuildRow> mark_ready(const BuildRow& row);
  /// Stores that the channel has another file under the name of a build that is ready.
  Result<BuildRow> replace(const BuildRow&);
  /// Marks a build whose tree is damaged, or whose file is not a build. Errors: conflict, when it
  /// is ready.
  Result<BuildRow> reject(Id, const std::string& reason, const std::string& fingerprint = {});
  Status set_place(Id, std::int64_t place);
  /// Notes why a build cannot be measured although its tree is there; empty: it can again.
  Status set_unusable(Id, const std::string& reason);

  Result<BuildRow> get(Id);
  Result<std::vector<BuildRow>> list();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
