#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/report/trunk_range.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::evidence {

/// A judged self-test, over all metrics.
struct SelfTestResult {
  storage::Id comparison = 0;
  storage::SelfTestTally tally = {};
};

/// What a list says of a comparison. What of it cannot be read is left out.
struct ComparisonInList {
  storage::Id id = 0;
  std::optional<storage::ComparisonRow> row = {};  ///< nothing: then there is nothing of the rest
  report::NamedByComparison named = {};
  report::TrunkRange range = {};
  /// How many commits of the range can change the library; nothing where nobody found that.
  std::optional<std::int64_t> can_matter = {};
  storage::VerdictCounts verdicts = {};
  /// From its first run to its end; nothing while it has not ended, and where it has no run.
  std::optional<double> seconds = {};
  /// How many benchmarks have a value in the judged nightly before, and none in it; nothing where
  /// there is none before, and for all but judged nightlies.
  std::optional<int> benchmarks_lost = {};
  /// The judged self-test of its candidate, else the newest before it.
  std::optional<SelfTestResult> self_test = {};
  std::string unread = {};  ///< says what is left out for that, as report::Unread; else empty
};

struct ListSettings {
  std::optional<storage::Id> at_work = {};  ///< the comparison that somebody works on
  report::CountCommits count_commits = {};  ///< empty: nobody counts them
  bool with_rest = true;                    ///< also `seconds`, `benchmarks_lost` and `self_test`
};

/// Reads what a list says of these comparisons, in their order. What is read of verdicts and runs
/// takes one statement for each kind of fact, however many comparisons there are.
std::vector<ComparisonInList> in_list(storage::Database&,
                                      const std::vector<storage::ListedComparison>&,
                                      const ListSettings&);

/// Returns how many series a self-test called changed, which are false alarms.
int false_alarms_of(const storage::SelfTestTally&);

/// Says what a self-test gave, as a cell: "0 of 2,016".
std::string false_alarms_text(const storage::SelfTestTally&);

}  // namespace torchwatch::evidence
