#pragma once

#include <map>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// How many series of a comparison have each verdict.
using VerdictCounts = std::map<Verdict, int>;

/// A comparison of a list; its row is an error (damaged) where a word in it is unknown.
struct ListedComparison {
  Id id = 0;
  Result<ComparisonRow> row = {};
};

/// Lists rows that were read.
std::vector<ListedComparison> listed(const std::vector<ComparisonRow>&);

/// Comparisons and their verdicts. Thread-safe as Database is.
class ComparisonStore {
 public:
  explicit ComparisonStore(Database& database) : database_(database) {}

  /// Opens a comparison. A pair of builds has one comparison of purpose nightly for ever: a second
  /// call returns it as it is. For other purposes each call stores a new repetition.
  Result<ComparisonRow> open(const NewComparison&, WallMillis now);
  /// Moves the comparison to a later state; returns the row as it is now. The three ends set
  /// ended_at. Errors: conflict when its state or version is no longer that of `comparison`.
  Result<ComparisonRow> advance(const ComparisonRow& comparison, ComparisonState to, WallMillis now,
                                const std::string& reason = "");
  /// Ends a comparison that has not ended, because a person wants it. Errors: conflict.
  Result<ComparisonRow> cancel(Id, const std::string& reason, WallMillis now);
  /// Makes a comparison that was refused, cancelled or given up, or that waits, due at once; what
  /// its builds were found unusable for, or wait for, is forgotten. One that has its verdicts
  /// continues behind them. Errors: conflict, when it has a result.
  Result<ComparisonRow> retry(Id);
  Result<ComparisonRow> set_plan(const ComparisonRow& comparison, const std::string& plan_json);

  /// Keeps the summary of a comparison, which the store does not read, and the confidence of the
  /// intervals of its verdicts.
  Status set_summary(Id comparison, const std::string& summary_json, double confidence);

  Status add_verdict(const VerdictRow&);  ///< UNIQUE(comparison, series)
  /// Counts the verdicts of each of these comparisons, by one statement. A comparison whose
  /// verdicts cannot be read has the error in their place.
  std::map<Id, Result<VerdictCounts>> verdict_counts(const std::vector<Id>& comparisons);

  Result<ComparisonRow> get(Id);
  Result<std::vector<ComparisonRow>> list(int limit, Id before = INT64_MAX);  ///< newest first
  /// The same where one row that cannot be read must not keep back the others.
  Result<std::vector<ListedComparison>> list_each(int limit, Id before = INT64_MAX);
  Result<std::vector<ComparisonRow>> unfinished();  ///< oldest first
  /// Returns the nightly comparisons opened before `comparison`, newest first.
  Result<std::vector<ComparisonRow>> nightlies_before(Id comparison, int limit);
  /// Returns the id of the nightly comparison opened next after `comparison`.
  Result<std::optional<Id>> nightly_after(Id comparison);
  /// Returns the number of nightly comparisons opened up to `comparison`, itself included.
  Result<int> nightlies_until(Id comparison);
  /// Returns the nightly comparison whose candidate is that build.
  Result<std::optional<ComparisonRow>> nightly_of(Id candidate);
  /// Returns the recheck of the incident with that build.
  Result<std::optional<ComparisonRow>> recheck_of(Id incident, Id candidate);
  /// Returns the rechecks of the incident, newest first.
  Result<std::vector<ComparisonRow>> rechecks_of(Id incident, int limit);
  /// Returns a tally of all judged self-tests for each metric, sorted by the metric's name.
  Result<std::vector<SelfTestTally>> self_tests();

 private:
  Database& database_;
};

/// Returns the comparisons of one of these candidates with one of these baselines, newest first.
Result<std::vector<ComparisonRow>> comparisons_of(Database&, const std::vector<Id>& candidates,
                                                  const std::vector<Id>& baselines);

/// Returns the tally over all metrics.
SelfTestTally sum_of(const std::vector<SelfTestTally>&);

}  // namespace torchwatch::storage
