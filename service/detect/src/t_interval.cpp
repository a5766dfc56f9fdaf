#include "torchwatch/detect/t_interval.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "trimmed_mean.hpp"

namespace torchwatch::detect {

TInterval t_interval(std::span<const double> differences, double error) {
  const auto count = static_cast<double>(differences.size());
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
  if (differences.size() < 2) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {.mean = mean, .low = -kInfinity, .high = kInfinity};
  }
  double squares = 0;
  for (const double each : differences) squares += (each - mean) * (each - mean);
  const double error_of_mean = std::sqrt(squares / (count - 1) / count);
  const double half = t_beyond(count - 1, error / 2) * error_of_mean;
  return {.mean = mean, .low = mean - half, .high = mean + half};
}

}  // namespace torchwatch::detect
