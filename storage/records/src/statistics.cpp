#include "torchwatch/records/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

namespace torchwatch {
namespace {

template <typename Number>
Number middle_of(std::vector<Number> values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace

double median(std::vector<double> values) {
  return middle_of(std::move(values));
}

std::int64_t median(std::vector<std::int64_t> values) {
  return middle_of(std::move(values));
}

double robust_sd(const std::vector<double>& values) {
  constexpr double kNormalSdOverMad = 1.4826;
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return kNormalSdOverMad * median(std::move(deviations));
}

double relative_spread(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double centre = median(values);
  return centre == 0 ? 0 : robust_sd(values) / std::abs(centre);
}

}  // namespace torchwatch
