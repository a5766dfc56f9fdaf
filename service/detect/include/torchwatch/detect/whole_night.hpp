#pragma once

#include <functional>
#include <vector>

#include "torchwatch/detect/time_verdict.hpp"

namespace torchwatch::detect {

/// Measures until so many pairs are there in all: appends their log-ratios.
using MorePairs = std::function<void(std::vector<double>& log_ratios, int pairs)>;

struct NightOutcome {
  Verdict verdict = Verdict::inconclusive;
  bool was_suspected = false;
  int screen_pairs = 0;
  int confirm_pairs = 0;
  Estimate estimate;  ///< of the stage that decided

  [[nodiscard]] int runs() const { return 2 * (screen_pairs + confirm_pairs); }
};

/// One series of one night from its first pair to its verdict: screened and, where it must be,
/// confirmed on fresh pairs. For those who foretell nights; the service keeps its pairs in a
/// database.
NightOutcome judge_night(const MorePairs& screening, const MorePairs& confirming, const Settings&);

}  // namespace torchwatch::detect
