#pragma once

#include <vector>

namespace torchwatch {

/// Returns the middle value, or the mean of the middle two; `values` must not be empty.
double median(std::vector<double> values);

/// Returns the robust standard deviation (1.4826 median absolute deviations) over the median; 0 for
/// fewer than two values and for a median of 0.
double relative_spread(const std::vector<double>& values);

}  // namespace torchwatch
