#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// The value of one run in a series.
struct RunValue {
  Id attempt = 0;
  Id build = 0;
  WallMillis measured_at = 0;
  std::int64_t value = 0;
  bool is_thinned = false;  ///< its samples were removed for their age
  std::optional<Id> machine = {};
  std::optional<Id> comparison = {};  ///< that the run is of; none: of a bisection
  std::string slot = {};              ///< its place there
};

/// Why a process left no usable result.
struct AttemptFailure {
  std::string reason;
  std::string output;  ///< the end of what it printed
};

/// How an attempt ended.
struct AttemptEnd {
  std::string token;
  std::variant<RunResult, AttemptFailure> how;
  std::string node = {};  ///< of a cluster, where it is known only now
};

/// What the machine did beside runs, as the runs stated it at their ends.
struct Disturbance {
  int runs = 0;               ///< that stated it
  double load_least = 0;      ///< load averages of one minute, in which the runs count themselves
  double load_most = 0;       ///< likewise
  double seconds = 0;         ///< for which the runs watched, together
  double stolen_seconds = 0;  ///< that the host gave to others meanwhile, of all processors
  bool is_virtual = false;    ///< the processor names a hypervisor
};

/// Attempts and their results with every sample. A process may be started more than once; its run
/// counts exactly once. Thread-safe as Database is.
class RunStore {
 public:
  explicit RunStore(Database& database) : database_(database) {}

  /// Commits the attempt before its process starts. Errors: conflict, when the token exists or the
  /// slot has an attempt that is issued or done.
  Result<Id> issue(const NewAttempt&, const std::string& token, WallMillis now);
  /// Ends attempts in one transaction: a result with its samples and their SHA-256, environment and
  /// values as done, a failure as failed. Errors: conflict, when one of them is not issued any
  /// more (a late twin); not_found. Nothing is stored then.
  Status record(const std::vector<AttemptEnd>&, WallMillis now);
  /// Abandons the attempts of an owner whose runs were broken off, which frees their slots.
  Status abandon(Owner, WallMillis now);
  /// Abandons those attempts, where they are issued: they were lost with the node of a cluster.
  Status abandon(const std::vector<std::string>& tokens, WallMillis now);
  /// Abandons the attempts that an earlier process left issued, which frees their slots. From the
  /// second time on, that counts as a failed attempt of the slot: its run takes the service down.
  /// With the two attempts of a slot it has failed after the third time.
  /// Returns their number. Call at start.
  Result<int> abandon_leftovers(WallMillis now);

  /// Returns the ended runs of an owner in the order of their attempts; a failed attempt is a run
  /// with status failed. Abandoned attempts are left out.
  Result<std::vector<RunRow>> runs_of(Owner);

  /// Returns how long processes of a benchmark ran for an owner, in seconds; those that ran side by
  /// side count once.
  Result<double> seconds_of(Owner, const Benchmark&);

  /// Returns what the machine did beside the runs of a pass.
  Result<Disturbance> disturbance_of(Owner, Pass);

  /// Returns when the first run of an owner began; nothing before it.
  Result<std::optional<WallMillis>> began_at(Owner);

  /// Returns every sample of one run, checked against its digest, in ns; none where they were
  /// thinned (see retention.hpp). Errors: corrupt.
  Result<std::vector<std::int64_t>> samples_of(Id attempt);
  /// Returns the whole result as the runner stated it but for its outputs, checked likewise.
  /// Errors: not_found, corrupt.
  Result<RunResult> result_of(Id attempt);
  /// Returns what the workload computed in the first run of the owner that kept it, see
  /// RunResult::outputs; nothing where none did. Errors: corrupt.
  Result<std::vector<OutputFigures>> first_outputs(Owner, const Benchmark&);
  /// Returns the facts with that digest. Errors: not_found, corrupt.
  Result<Environment> environment(const std::string& digest);
  /// Returns the series that have values, by workload, configuration, variant and metric; those of
  /// one workload where one is named.
  Result<std::vector<Series>> all_series(const std::string& workload = {});
  /// Whose values make a history.
  enum class HistoryOf {
    all_builds,
    published_builds  ///< without builds of commits, which searches measure and may have reverted
  };
  /// Returns the newest `limit` values of a series, oldest first, from comparisons and bisections.
  /// They are of one machine class: that of the newest value where none is named.
  Result<std::vector<RunValue>> history(const Series&, int limit, HistoryOf = HistoryOf::all_builds,
                                        std::optional<Id> machine_class = {});

  /// Returns how long a process of a benchmark in a pass takes, in seconds, as the newest five
  /// thousand runs say.
  Result<std::map<std::pair<Benchmark, Pass>, double>> usual_seconds();

 private:
  Result<std::optional<Id>> newest_class(const Series&);

  Database& database_;
};

}  // namespace torchwatch::storage
