#pragma once

#include <span>
#include <vector>

namespace torchwatch::detect {

/// A ratio candidate / baseline with the interval that the data support.
struct Estimate {
  double ratio = 1;
  double low = 0;   ///< low end of the two-sided interval at `confidence`; 0 with too few pairs
  double high = 0;  ///< high end; infinity with too few pairs
  double confidence = 0;
  double pair_sd = 0;  ///< robust spread of one pair's log-ratio (1.4826 MAD)
  int pairs = 0;
};

/// Returns the Hodges-Lehmann centre of paired log-ratios with the interval of the signed-rank
/// test. It is exact for symmetric noise, which the difference of two runs of one build has,
/// however heavy its tails. Every log-ratio must be finite.
Estimate estimate(std::span<const double> log_ratios, double confidence);

/// Returns ln(candidate / baseline) of the pairs of blocks A B B A: (A1, B1) and (B2, A2).
/// `values` are the runs' values in order, four to a block; half a block at the end counts as one
/// pair. A run without a value (not finite, or not above 0) drops its pair.
std::vector<double> abba_log_ratios(std::span<const double> values);

}  // namespace torchwatch::detect
