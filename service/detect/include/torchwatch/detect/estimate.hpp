#pragma once

#include <span>
#include <vector>

namespace torchwatch::detect {

/// A ratio candidate / baseline with the interval that the data support.
struct Estimate {
  double ratio = 1;
  double low = 0;   ///< of the two-sided interval at `confidence`; 0 when there are too few pairs
  double high = 0;  ///< infinity when there are too few pairs
  double confidence = 0;
  double pair_sd = 0;  ///< robust spread of one pair's log-ratio (1.4826 MAD)
  int pairs = 0;
};

/// Hodges-Lehmann centre of paired log-ratios with the exact interval of the signed-rank test.
Estimate estimate(std::span<const double> log_ratios, double confidence);

/// ln(candidate / baseline) of the pairs of a block A B B A: (A1, B1) and (B2, A2).
/// `values` are the runs' values in order, four a block.
std::vector<double> abba_log_ratios(std::span<const double> values);

}  // namespace torchwatch::detect
