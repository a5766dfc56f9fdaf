#pragma once

#include <span>

namespace torchwatch::detect {

/// A mean and its standard error that a few wild pairs do not spoil: the tenth at either end is
/// left out, and the error is that of Yuen (1974) from the winsorised spread.
struct TrimmedMean {
  double mean = 0;
  double error = 0;  ///< standard error of the mean, not below the floor's
  double degrees_of_freedom = 1;
};

/// Computes the trimmed mean; `least_sd` is the least assumed spread of one difference. Needs at
/// least two differences.
TrimmedMean trimmed_mean(std::span<const double> differences, double least_sd);

/// Returns the one-sided p-value of the mean by the t distribution, if the centre is zero.
double one_sided_p(const TrimmedMean&);

/// Returns the point of the t distribution that is exceeded with probability `tail`.
double t_beyond(double degrees_of_freedom, double tail);

/// Returns the point of the normal distribution that is exceeded with probability `tail`.
double normal_beyond(double tail);

}  // namespace torchwatch::detect
