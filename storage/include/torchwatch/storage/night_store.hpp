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

  /// What there is to say of a night beside its verdicts, of no meaning to the store.
  Status summarised(Id night, const std::string& summary_json);

  Status verdict_reached(const VerdictRow&);  ///< UNIQUE(night, target)
  Result<std::vector<VerdictRow>> verdicts_of(Id night);

  Result<NightRow> get(Id);
  Result<std::vector<NightRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  Result<std::vector<NightRow>> unfinished();                            ///< oldest first
  /// The nightlies opened before that night, newest first.
  Result<std::vector<NightRow>> nightlies_before(Id night, int limit);
  /// How many nightlies have been opened, that night's own included.
  Result<int> nightlies_until(Id night);
  /// The nightly whose candidate that build is.
  Result<std::optional<NightRow>> nightly_of(Id candidate);
  /// All self-tests that were judged, by metric in the order of their names.
  Result<std::vector<SelfTestTally>> self_tests();

 private:
  Database& database_;
};

/// Of all metrics together.
SelfTestTally sum_of(const std::vector<SelfTestTally>&);

}  // namespace torchwatch::storage
