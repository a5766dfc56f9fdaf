#pragma once

#include <optional>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// The last daemon on a database.
struct DaemonTimes {
  WallMillis started_at = 0;
  std::optional<WallMillis> stopped_at;  ///< none: it runs, or it was ended from outside
};

/// When daemons ran. Thread-safe as Database is.
class DaemonStore {
 public:
  explicit DaemonStore(Database& database) : database_(database) {}

  Status note_start(WallMillis now);
  Status note_stop(WallMillis now);
  Result<std::optional<DaemonTimes>> last();  ///< nothing if there was none

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
