#pragma once

#include <cstdint>
#include <vector>

namespace torchwatch {

/// Returns the middle value, or the mean of the middle two; `values` must not be empty.
double median(std::vector<double> values);

/// The same of whole numbers; the mean of the middle two is rounded down.
std::int64_t median(std::vector<std::int64_t> values);

/// Returns 1.4826 median absolute deviations, which agree with the standard deviation of a normal
/// sample; `values` must not be empty.
double robust_sd(const std::vector<double>& values);

/// Returns the robust standard deviation over the median; 0 for fewer than two values and for a
/// median of 0.
double relative_spread(const std::vector<double>& values);

}  // namespace torchwatch
