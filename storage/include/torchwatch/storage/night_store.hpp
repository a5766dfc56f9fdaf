#pragma once

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Nights and their verdicts.
class NightStore {
 public:
  explicit NightStore(Database& database) : database_(database) {}

  /// A night for that pair, made if there is none (kind nightly: one for ever; others: a new
  /// repetition each time). `candidate` alone: the oldest nightly.
  Result<NightRow> opened(NightKind, Id candidate, std::optional<Id> baseline, WallMillis now);
  /// Moves the night on; conflict when its state or version is no longer that of `night`.
  /// Returns the row as it is now. The three ends set ended_at.
  Result<NightRow> advanced(const NightRow& night, NightState to, WallMillis now,
                            const std::string& reason = "");
  Result<NightRow> planned(const NightRow& night, const std::string& plan_json);

  Status verdict_reached(const VerdictRow&);  ///< UNIQUE(night, target)
  Result<std::vector<VerdictRow>> verdicts_of(Id night);

  Result<NightRow> get(Id);
  Result<std::vector<NightRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<NightRow>> unfinished();                            ///< oldest first

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
