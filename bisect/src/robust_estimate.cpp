#include "robust_estimate.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "torchwatch/records/statistics.hpp"

namespace torchwatch::bisect {
namespace {

constexpr double kFreedom = 4;
/// The t scale that maximises the likelihood of standard normal samples.
constexpr double kScaleOfNormal = 0.8308;
constexpr int kIterations = 12;

double weight_of(double deviation, double scale) {
  const double z = deviation / scale;
  return (kFreedom + 1) / (kFreedom + z * z);
}

}  // namespace

double scale_of_sd(double sd) {
  return sd * kScaleOfNormal;
}

double log_density(double deviation, double scale) {
  const double z = deviation / scale;
  return -(kFreedom + 1) / 2 * std::log1p(z * z / kFreedom);
}

Estimate centre_of(const std::vector<double>& samples, double scale) {
  if (samples.empty()) return {};
  Estimate estimate{median(samples), 0, static_cast<int>(samples.size())};
  if (scale <= 0) return estimate;
  for (int i = 0; i < kIterations; ++i) {
    double sum = 0;
    double weights = 0;
    for (const double sample : samples) {
      const double weight = weight_of(sample - estimate.centre, scale);
      sum += weight * sample;
      weights += weight;
    }
    estimate.centre = sum / weights;
  }
  estimate.error = error_of(scale, estimate.count);
  return estimate;
}

double error_of(double scale, int count) {
  // Each sample carries (f+1)/(f+3) of the information of a normal one with this scale.
  return scale / std::sqrt((kFreedom + 1) / (kFreedom + 3) * count);
}

double pooled_scale(const std::vector<const std::vector<double>*>& groups, double expected,
                    double weight, double& freedom) {
  std::vector<double> deviations;
  freedom = weight;
  for (const auto* group : groups) {
    if (group->size() < 2) continue;
    const double centre = centre_of(*group, 0).centre;
    for (const double sample : *group) deviations.push_back(sample - centre);
    freedom += static_cast<double>(group->size()) - 1;
  }
  double scale = expected;
  for (const double deviation : deviations) scale = std::max(scale, std::abs(deviation));
  for (int i = 0; i < 4 * kIterations && scale > 0; ++i) {
    double sum = weight * expected * expected;
    for (const double deviation : deviations) {
      sum += weight_of(deviation, scale) * deviation * deviation;
    }
    scale = std::sqrt(sum / freedom);
  }
  return scale;
}

double interval_factor(double freedom) {
  const boost::math::students_t distribution(std::max(freedom, 1.0));
  return boost::math::quantile(boost::math::complement(distribution, 0.005));
}

}  // namespace torchwatch::bisect
