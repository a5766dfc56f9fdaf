#pragma once

#include <functional>
#include <vector>

#include "torchwatch/detect/time_verdict.hpp"

namespace torchwatch::detect {

/// Measures until the series has `pairs` pairs in all, and appends their log-ratios.
using MorePairs = std::function<void(std::vector<double>& log_ratios, int pairs)>;

/// How a comparison of one series ended.
struct SeriesOutcome {
  Verdict verdict = Verdict::inconclusive;
  bool was_suspected = false;
  int screen_pairs = 0;
  int confirm_pairs = 0;
  Estimate estimate;  ///< from the stage that decided

  [[nodiscard]] int runs() const { return 2 * (screen_pairs + confirm_pairs); }
};

/// Judges one series from its first pair to its verdict: screened and, if suspected, confirmed on
/// fresh pairs. Simulations use it; the service keeps its pairs in a database.
SeriesOutcome judge_series(const MorePairs& screening, const MorePairs& confirming,
                           const Settings&);

}  // namespace torchwatch::detect
