#pragma once

#include <cstddef>
#include <vector>

#include "series_comparison.hpp"

namespace torchwatch::experiments {

/// What earlier comparisons could teach of a series before it is screened. The service learns
/// nothing: see README.md, "Noise learned from earlier comparisons".
struct Learning {
  std::size_t comparisons =
      0;             ///< that are looked at; 0: every series is expected to scatter alike
  double least = 0;  ///< what a series is expected to scatter by at least
};
inline constexpr std::size_t kComparisonsToLearnFrom = kComparisonsBefore - 2;

/// The spread of a pair's log-ratio to expect: that of the comparison in the middle, so that a wild
/// one counts for nothing, shrunk towards `common` as if four comparisons had shown that.
/// `comparisons` has the log-ratios of each comparison; none may be empty.
double learned_pair_sd(const std::vector<std::vector<double>>& comparisons, double common);

/// The log-ratios of the comparisons before the two that are compared, the newest first; at
/// most kComparisonsToLearnFrom.
std::vector<std::vector<double>> pairs_before(const SeriesComparison&, std::size_t comparisons);

}  // namespace torchwatch::experiments
