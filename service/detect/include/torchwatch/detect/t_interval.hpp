#pragma once

#include <span>

namespace torchwatch::detect {

/// A mean with its interval.
struct TInterval {
  double mean = 0;
  double low = 0;  ///< minus infinity with a single difference
  double high = 0;
};

/// Returns the mean of differences with the two-sided interval of Student's t that misses it with
/// probability `error`. Needs at least one difference, all finite.
TInterval t_interval(std::span<const double> differences, double error);

}  // namespace torchwatch::detect
