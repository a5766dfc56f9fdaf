#pragma once

#include <string>
#include <variant>
#include <vector>

#include "torchwatch/storage/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

struct SampleHistory {  ///< one run of a series, oldest first
  Id attempt = 0;
  Id build = 0;
  WallMillis measured_at = 0;
  std::int64_t value = 0;
};

/// The process left no usable result.
struct AttemptFailure {
  std::string reason;
  std::string output;  ///< the end of what it printed
};

/// How an attempt ended.
struct AttemptEnd {
  std::string token;
  std::variant<RunResult, AttemptFailure> how;
};

/// Attempts and their results with every sample: exactly-once accounting of processes that may be
/// started more than once.
class RunStore {
 public:
  explicit RunStore(Database& database) : database_(database) {}

  /// Commits the attempt before its process starts. `token` is unique, and a slot has at most one
  /// attempt that is issued or done (conflict otherwise).
  Result<Id> issued(const AttemptOrder&, const std::string& token, WallMillis now);
  /// The process stated a result. One transaction: result, samples (with their SHA-256),
  /// environment, values; attempt -> done. Errors: conflict when the token is not issued any more
  /// (a late twin): nothing changes.
  Status finished(const std::string& token, const RunResult&, WallMillis now);
  /// The process left no usable result: attempt -> failed with the reason and the output's end.
  Status failed(const std::string& token, const std::string& reason, const std::string& output,
                WallMillis now);
  /// Both of the above for runs that count together or not at all, in one transaction.
  Status ended(const std::vector<AttemptEnd>&, WallMillis now);
  /// The run did not take place, or was stopped: attempt -> abandoned, its slot is free again.
  Status abandoned(const std::string& token, const std::string& reason, WallMillis now);
  /// At start: attempts of an earlier process that are still issued become abandoned.
  Result<int> abandoned_leftovers(WallMillis now);

  /// The ended runs of an owner (done, and failed as status failed), in order of their attempts.
  /// Abandoned and stale attempts are not among them: their slots are free again.
  Result<std::vector<RunRow>> runs_of(Owner);
  Result<int> attempts_of_slot(Owner, const std::string& slot);

  /// Every sample of one run, checked against its digest. Errors: corrupt.
  Result<std::vector<std::int64_t>> samples_of(Id attempt);
  /// All that the runner stated, checked likewise. Errors: not_found, corrupt.
  Result<RunResult> result_of(Id attempt);
  Result<Environment> environment(const std::string& digest);
  /// The newest `limit` values of a series (nights' and bisections' runs alike), oldest first.
  Result<std::vector<SampleHistory>> history(const Target&, int limit);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
