#pragma once

#include <span>

namespace torchwatch::detect {

/// A centre and its standard error that a few wild pairs do not spoil: the mean without the tenth
/// at either end, with the error of Yuen (1974) from the winsorised spread.
struct TrimmedMean {
  double mean = 0;
  double error = 0;  ///< standard error of the mean, not below the floor's
  double degrees_of_freedom = 1;
};

/// `least_sd` is the least spread of one difference that is believed. Needs two differences.
TrimmedMean trimmed_mean(std::span<const double> differences, double least_sd);

/// Chance of a mean this far from zero, on its side, if the centre is zero. By the t distribution.
double one_sided_p(const TrimmedMean&);

/// The t distribution's point with this chance beyond it.
double t_beyond(double degrees_of_freedom, double tail);

/// The normal distribution's point with this chance beyond it.
double normal_beyond(double tail);

}  // namespace torchwatch::detect
