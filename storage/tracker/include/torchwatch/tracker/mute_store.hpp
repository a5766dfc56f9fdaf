#pragma once

#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Series of which no incident is opened until a date, who wanted that and why.
struct MuteRow {
  Id id = 0;
  std::string target =
      {};  ///< "WORKLOAD/CONFIGURATION/VARIANT/METRIC"; what is left out, or *, is any
  WallMillis until = 0;
  std::string made_by = {};
  std::string reason = {};
  std::string asked_by = {};  ///< to_string of who really asked
  WallMillis made_at = 0;
};

/// Checks the form of a target; which workloads there are it does not know. Errors: invalid, with
/// what is allowed.
Status check_mute_target(const std::string& target);
/// Returns whether the target names the series.
bool is_muted_by(const std::string& target, const Series&);

/// Mutes. Thread-safe as Database is.
class MuteStore {
 public:
  explicit MuteStore(Database& database) : database_(database) {}

  Result<MuteRow> add(const MuteRow&);
  Result<MuteRow> get(Id);  ///< Errors: not_found
  /// Ends one before its time. Errors: not_found, conflict (it has ended).
  Status lift(Id, WallMillis now);
  Result<std::vector<MuteRow>> active(WallMillis now);                  ///< oldest first
  Result<std::vector<MuteRow>> list(int limit, Id before = INT64_MAX);  ///< newest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
