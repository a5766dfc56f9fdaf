#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

// What pages draw, read for many series or many comparisons by one statement.

/// A verdict in the past of its series.
struct PastVerdict {
  BuildRow candidate = {};  ///< its id, origin, name and version
  WallMillis at = 0;        ///< when the comparison was opened
  std::optional<double> confidence = {};
  std::string environment_digest = {};  ///< of a run in `slots`; empty where there is none
  VerdictRow verdict = {};
};

/// Whose past is read.
struct PastWanted {
  Series series = {};
  Purpose purpose = Purpose::nightly;
  WallMillis from = 0;
  WallMillis until = INT64_MAX;  ///< the first moment after it
  /// The run in one of them has the environment to read; empty: none is.
  std::array<std::string, 2> slots = {};
  int limit = 0;  ///< of verdicts, the newest
};

/// The value of a series in a comparison.
struct Level {
  Id comparison = 0;
  Benchmark benchmark = {};
  double candidate_value = 0;
};

/// Whose levels are read; what is empty admits all.
struct LevelFilter {
  std::optional<Configuration> configuration = {};
  std::string workload = {};
};

/// What the newest profile of a benchmark shows.
struct ProfileOf {
  Benchmark benchmark = {};
  Id run = 0;
  Breakdown breakdown = {};
};

/// An operator that the newest coverage run of a benchmark calls.
struct CallsOf {
  Benchmark benchmark = {};
  Id run = 0;
  std::string name = {};  ///< of the operator
  std::int64_t calls = 0;
};

/// A benchmark whose newest profile shows nothing of a GPU, with the reason.
struct Unprofiled {
  Benchmark benchmark = {};
  std::string reason = {};
};

/// A profile that was made. Its trace, where it is kept, is a file with the token in its name.
struct ProfileRun {
  Benchmark benchmark = {};
  Id run = 0;
  std::string token = {};
  Id build = 0;
  WallMillis at = 0;  ///< its end
};

/// The runs of a comparison so far.
struct RunCounts {
  int benchmarks = 0;  ///< that have a run
  int done = 0;
  int failed = 0;
  WallMillis first_at = 0;  ///< the start of the first run; 0: there is none
  WallMillis later_at = 0;  ///< the start of the first run of the later stage; 0: there is none
  WallMillis last_at = 0;   ///< the end of the newest one that has ended; 0: there is none
};

/// A run in flight.
struct IssuedRun {
  Id attempt = 0;
  Benchmark benchmark = {};
  Pass pass = Pass::timing;
  WallMillis issued_at = 0;
};

/// Reads verdicts and runs across comparisons. Thread-safe as Database is.
class EvidenceReader {
 public:
  explicit EvidenceReader(Database& database) : database_(database) {}

  /// Returns the verdicts on a series, oldest first.
  Result<std::vector<PastVerdict>> past_of(const PastWanted&);
  /// Returns what is known of each of these environments beside the build, by digest, as the text
  /// of a JSON object: most of many are equal, and need not be read. The digests are not checked;
  /// of an unknown one there is nothing.
  Result<std::map<std::string, std::string>> facts_beside_build(
      const std::vector<std::string>& digests);

  /// Returns the newest `count` nightly comparisons up to that one which have verdicts, oldest
  /// first.
  Result<std::vector<Id>> judged_nightlies(Id until, int count);
  /// Returns the values of one metric in the nightly comparisons between two ids, both included;
  /// those of a series are in order.
  Result<std::vector<Level>> levels_between(Id first, Id last, Metric, const LevelFilter& = {});
  /// Returns when a comparison with a build began or ended last, for the builds that have one.
  Result<std::map<Id, WallMillis>> last_uses();

  /// Returns the newest profile of each benchmark of a build, by benchmark.
  Result<std::vector<ProfileOf>> profiles_of(Id build);
  /// Returns the operators of the newest coverage run of each benchmark of a build; one without
  /// operators is left out.
  Result<std::vector<CallsOf>> operators_of(Id build);
  /// Returns how many operators the build has, by namespace, as its newest coverage run with
  /// LibTorch states it; empty where none does.
  Result<std::map<std::string, std::int64_t>> operators_registered_in(Id build);
  /// Returns the benchmarks of a build whose newest profile has no breakdown, by benchmark.
  Result<std::vector<Unprofiled>> unprofiled_of(Id build);
  /// Returns one run that was a profile and has ended well. Errors: not_found.
  Result<ProfileRun> profile_run(Id run);
  /// Returns the newest profiles of a benchmark, with any build, newest first.
  Result<std::vector<ProfileRun>> profile_runs_of(const Benchmark&, int limit);
  /// Returns the newest profile of each benchmark of a build, by benchmark.
  Result<std::vector<ProfileRun>> profile_runs_of(Id build);
  /// Returns the newest build before that one which was measured alone in a pass that times
  /// nothing, coverage or profile.
  Result<std::optional<Id>> observed_before(Pass, Id build);
  /// `later_stage`: what the slots of its runs have in them, as "/confirm/".
  Result<RunCounts> counts_of(Id comparison, const std::string& later_stage);
  Result<std::vector<IssuedRun>> running_in(Id comparison);
  /// Returns how long the newest reported comparisons of a purpose took from their first run to
  /// their end, in seconds.
  Result<std::vector<double>> durations_of(Purpose, int count);

  /// Returns when the first run of each of these comparisons began; one without a run is left out.
  Result<std::map<Id, WallMillis>> first_runs_of(const std::vector<Id>& comparisons);
  /// Returns for those of them that are judged nightlies how many benchmarks have a value in the
  /// judged nightly before, and none in it. The first of all is left out.
  Result<std::map<Id, int>> benchmarks_lost_in(const std::vector<Id>& comparisons);
  /// Returns the newest judged self-test of each comparison's candidate; where there is none, the
  /// newest before the comparison; where there is none either, nothing.
  Result<std::map<Id, Id>> self_tests_near(const std::vector<Id>& comparisons);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
