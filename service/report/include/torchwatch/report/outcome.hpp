#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// The verdicts of a comparison by what a reader does about them, the largest changes first.
struct SortedVerdicts {
  std::vector<storage::VerdictRow> regressed;
  std::vector<storage::VerdictRow> lost;
  std::vector<storage::VerdictRow> improved;
  std::vector<storage::VerdictRow> undecided;
  std::vector<storage::VerdictRow> failed;
  std::vector<storage::VerdictRow> unchanged;
  std::vector<storage::VerdictRow> unsupported;
  /// Those of the unchanged that moved exactly, less than the threshold; drift counts them.
  std::vector<storage::VerdictRow> moved_exactly;
};

/// Sorts the verdicts; `incidents` are those of the comparison, which say what is lost.
SortedVerdicts sorted(const std::vector<storage::VerdictRow>& verdicts,
                      const std::vector<storage::IncidentRow>& incidents);

/// Says in a clause what the verdicts say: "3 series regressed, 1 could not be decided".
std::string outcome_text(const SortedVerdicts&);

/// Says how sure it is that a series is unchanged, beside intervals of that confidence.
std::string unchanged_text(double confidence);

/// Says what became of what moved exactly, below the threshold.
std::string moved_exactly_text();

/// Returns what a comparison came to or is at, in a word: "regressed", "lost", "improved",
/// "unchanged" or "inconclusive" by its verdicts; before it has ended "preparing", "measuring",
/// "judging", "searching" or "reporting" if it is `at_work`, the comparison that somebody works on,
/// else "waiting"; "found", "missed" or "inconclusive" for a drill; "first" for the oldest nightly,
/// "measured" for a measurement; else its state.
/// Errors: those of storage.
Result<std::string> result_word(storage::Database&, const storage::ComparisonRow&,
                                std::optional<storage::Id> at_work = {});
/// The same from verdicts that were counted, as ComparisonStore::verdict_counts does. Errors: also
/// theirs, where the word depends on them.
Result<std::string> result_word(storage::Database&, const storage::ComparisonRow&,
                                const Result<storage::VerdictCounts>&,
                                std::optional<storage::Id> at_work);

/// Returns the benchmarks with values among the verdicts of a nightly's comparison that the nightly
/// before did not measure; none of any other comparison. Errors: those of storage.
Result<std::vector<Benchmark>> newly_measured(storage::Database&, const storage::ComparisonRow&,
                                              const std::vector<storage::VerdictRow>& verdicts);

/// Returns whether a workload is one of the networks of MLPerf that the paper compares its suite
/// with, or stands for one.
bool is_mlperf_network(const std::string& workload);

/// Formats a number of series, whose plural is series.
std::string series_text(std::size_t count);

}  // namespace torchwatch::report
