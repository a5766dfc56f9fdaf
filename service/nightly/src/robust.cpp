#include "robust.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace torchwatch::nightly {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double relative_spread(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double centre = median(values);
  if (centre == 0) return 0;
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return 1.4826 * median(deviations) / std::abs(centre);
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string line_a;
  std::string line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(left, line_a));
    const bool more_b = static_cast<bool>(std::getline(right, line_b));
    if (!more_a && !more_b) return "no difference";
    if (!more_a) line_a = "(nothing)";
    if (!more_b) line_b = "(nothing)";
    if (line_a != line_b) return line_a + " -> " + line_b;
  }
}

}  // namespace torchwatch::nightly
