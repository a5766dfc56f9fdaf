#pragma once

#include <vector>

namespace torchwatch::bisect {

// Location and scale of noisy samples under Student's t with 4 degrees of freedom, whose heavy
// tails let a disturbed run count for little (Lange, Little and Taylor 1989).

/// A centre with its standard error.
struct Estimate {
  double centre = 0;
  double error = 0;
  int count = 0;
};

/// The scale that t fits to normally distributed samples with this standard deviation.
double scale_of_sd(double sd);

/// Logarithm of t's density at `deviation`, less that at 0, for a scale (which must be positive).
double log_density(double deviation, double scale);

/// The centre of samples whose scale is known (0: they are exact, the median is returned).
Estimate centre_of(const std::vector<double>& samples, double scale);

/// Standard error of the centre of `count` samples.
double error_of(double scale, int count);

/// One scale for several groups of samples, each with a centre of its own. `expected` counts as
/// `weight` samples. `freedom` becomes the degrees of freedom behind the result.
double pooled_scale(const std::vector<const std::vector<double>*>& groups, double expected,
                    double weight, double& freedom);

/// Half-width of the 99 % interval in standard errors.
double interval_factor(double freedom);

}  // namespace torchwatch::bisect
