#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

// What is done, what waits, and how well past answers held. Errors are those of storage.

/// How long work takes, from how long work of its kind took lately, in seconds.
struct Estimate {
  double likely = 0;   ///< as likely more as less
  double at_most = 0;  ///< nine of ten took no longer
  int of = 0;          ///< how many it is made from
};

/// Makes an estimate of durations in seconds, whose order does not matter; nothing of fewer than
/// three. Pure.
std::optional<Estimate> estimate_of(std::vector<double> seconds);
/// What is left after `elapsed` seconds: never less than 0. Pure.
Estimate left_of(Estimate, double elapsed);

/// A run in flight.
struct RunningRun {
  storage::Id run = 0;
  Benchmark benchmark;
  Pass pass = Pass::timing;
  storage::WallMillis since = 0;
};

/// How far a comparison is. Times are 0 for what has not happened.
struct Progress {
  storage::ComparisonRow comparison;
  storage::WallMillis first_run_at = 0;
  storage::WallMillis confirm_began_at = 0;  ///< the first run of the second stage
  storage::WallMillis last_run_at = 0;       ///< the end of the newest run
  int benchmarks_planned = 0;                ///< 0 before the plan is made
  int benchmarks_begun = 0;                  ///< that have a run
  int runs_done = 0;
  int runs_failed = 0;
  int bisections_open = 0;  ///< of its incidents
  std::vector<RunningRun> running = {};
  std::optional<Estimate> left = {};  ///< until its end
};

/// Returns how far a comparison is at that time.
Result<Progress> progress_of(storage::Database&, const storage::ComparisonRow&,
                             storage::WallMillis now);

/// Returns the comparison that is worked on: the given one, else the one that is next, else none.
Result<std::optional<storage::ComparisonRow>> current_comparison(
    storage::Database&, std::optional<storage::Id> at_work);

/// An item of work that has not ended.
struct QueuedItem {
  storage::ItemKind kind = storage::ItemKind::comparison;
  storage::Id id = 0;
  std::string what = {};  ///< the comparison's purpose; "bisection"; the request's kind
  storage::WallMillis since = 0;
  std::optional<storage::SetbackRow> setback = {};  ///< what it waits for
  std::optional<Estimate> estimate = {};            ///< how long such work takes
};

/// Returns what has not ended, in the order in which the daemon turns to it: nightlies, requests,
/// other comparisons, bisections; within each the oldest first. What waits for something is passed
/// over until then.
Result<std::vector<QueuedItem>> queue_of(storage::Database&);

/// How culprits held that were named with at least 99 %.
struct Calibration {
  int named = 0;     ///< bisections that named a commit, however sure
  int sure = 0;      ///< of these, with at least 99 %, and confirmed, not contradicted, since
  int disputed = 0;  ///< of the sure ones
  int held() const { return sure - disputed; }
};
/// "of 41 commits named with 99 % or more, 40 held"; empty before the first. Pure.
std::string held_text(const Calibration&);
/// Counts the given bisections. Pure.
Calibration calibration_of(const std::vector<storage::BisectionRow>&);

struct Audits {
  std::vector<storage::SelfTestTally> self_tests = {};  ///< for each metric
  storage::DrillTally drills = {};
  Calibration culprits = {};  ///< of the newest thousand bisections
};
Result<Audits> audits_of(storage::Database&);

}  // namespace torchwatch::evidence
