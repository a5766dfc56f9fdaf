#pragma once

#include <cstddef>
#include <vector>

#include "series_night.hpp"

namespace torchwatch::benchmarks {

/// What earlier nights could teach of a series before it is screened. The service learns nothing:
/// see README.md, "Noise learned from earlier nights".
struct Learning {
  std::size_t nights = 0;  ///< that are looked at; 0: every series is expected to scatter alike
  double least = 0;        ///< what a series is expected to scatter by at least
};
inline constexpr std::size_t kNightsToLearnFrom = kNightsBefore - 2;

/// The spread of a pair's log-ratio to expect: that of the night in the middle, so that a wild one
/// counts for nothing, shrunk towards `common` as if four nights had shown that. `nights` has the
/// log-ratios of each night; none may be empty.
double learned_pair_sd(const std::vector<std::vector<double>>& nights, double common);

/// The log-ratios of so many nights before the two that are compared, the newest first; at most
/// kNightsToLearnFrom.
std::vector<std::vector<double>> pairs_before(const SeriesNight&, std::size_t nights);

}  // namespace torchwatch::benchmarks
