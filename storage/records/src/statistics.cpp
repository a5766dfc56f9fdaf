#include "torchwatch/records/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace torchwatch {

double median(std::vector<double> values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double relative_spread(const std::vector<double>& values) {
  constexpr double kNormalSdOverMad = 1.4826;
  if (values.size() < 2) return 0;
  const double centre = median(values);
  if (centre == 0) return 0;
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return kNormalSdOverMad * median(deviations) / std::abs(centre);
}

}  // namespace torchwatch
