#include "torchwatch/detect/settings.hpp"

#include <cassert>

namespace torchwatch::detect {

double alpha_of_budget(double false_incidents_per_year, int series) {
  assert(false_incidents_per_year > 0 && series > 0);
  constexpr double kNightliesPerYear = 365;
  return false_incidents_per_year / (kNightliesPerYear * series);
}

}  // namespace torchwatch::detect
