#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "torchwatch/records/run_result.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::operators {

using Figures = std::map<std::string, OperatorFigures>;  ///< by operator

/// What two interleaved runs state, one of each build.
struct Pair {
  Figures before = {};
  Figures after = {};
};

/// The pairs of one whole workload.
struct WatchedPairs {
  Benchmark benchmark = {};
  std::vector<Pair> pairs = {};
  double iteration_ns = 0;  ///< before, without watching; medians
  double watched_ns = 0;    ///< before, with it
};

/// What one operator takes of an iteration with the build before and with the one after.
struct Change {
  std::string name = {};
  OperatorFigures before = {};  ///< medians of the runs
  OperatorFigures after = {};
  double difference_ns = 0;  ///< in self time, by the mean of the pairs' ratios
  double low_ns = -std::numeric_limits<double>::infinity();  ///< its interval, for all operators
  double high_ns = std::numeric_limits<double>::infinity();  ///< together; infinite: too few pairs
};

/// Confidence with which the intervals of all operators hold together.
inline constexpr double kConfidence = 0.99;

/// Returns all operators of the pairs, the largest difference in time first, whichever way it goes.
/// An operator that a run does not call takes nothing of it. Intervals need three pairs.
std::vector<Change> changes_in(const std::vector<Pair>&);

/// The share of an iteration by which an operator must differ to count.
inline constexpr double kShareLeast = 0.01;

/// Whether an operator certainly takes more, or less, by that share of an iteration.
bool takes_more(const Change&, double iteration_ns);
bool takes_less(const Change&, double iteration_ns);

}  // namespace torchwatch::operators
