#include "information.hpp"

#include <cmath>

namespace torchwatch::bisect {
namespace {

/// Expected entropy that is left when the truth has log odds `odds` and readings shift the log
/// odds by a normal of mean `mean` and deviation `deviation`. The trapezoid rule on a normal is
/// exact to many digits with steps this wide.
double entropy_left(double odds, double mean, double deviation) {
  constexpr double kStep = 0.4;
  constexpr int kStepsEitherWay = 10;
  double sum = 0;
  double weights = 0;
  for (int step = -kStepsEitherWay; step <= kStepsEitherWay; ++step) {
    const double x = kStep * step;
    const double weight = std::exp(-x * x / 2);
    sum += weight * entropy(1 / (1 + std::exp(-(odds + mean + deviation * x))));
    weights += weight;
  }
  return sum / weights;
}

}  // namespace

double entropy(double probability) {
  if (probability <= 0 || probability >= 1) return 0;
  return -probability * std::log2(probability) - (1 - probability) * std::log2(1 - probability);
}

double information(double probability, double separation) {
  if (probability <= 0 || probability >= 1) return 0;
  const double odds = std::log(probability / (1 - probability));
  const double shift = separation * separation / 2;
  const double left = probability * entropy_left(odds, shift, separation) +
                      (1 - probability) * entropy_left(odds, -shift, separation);
  return entropy(probability) - left;
}

}  // namespace torchwatch::bisect
