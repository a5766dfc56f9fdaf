#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace torchwatch::detect {

inline constexpr const char* kUnusablePair = "a run's value is zero, negative or not a number";

/// Returns whether all pairs are finite; a workload that reports nonsense must not be measured for
/// ever.
inline bool are_usable(std::span<const double> log_ratios) {
  return std::all_of(log_ratios.begin(), log_ratios.end(),
                     [](double value) { return std::isfinite(value); });
}

}  // namespace torchwatch::detect
