#include "torchwatch/detect/settings.hpp"

#include <cassert>

namespace torchwatch::detect {

double alpha_of_budget(double false_incidents_per_year, int series) {
  assert(false_incidents_per_year > 0 && series > 0);
  constexpr double kNightliesPerYear = 365;
  return false_incidents_per_year / (kNightliesPerYear * series);
}

Settings settings_of_exact(Settings settings) {
  settings.gate *= settings.exact_threshold / settings.threshold;
  settings.threshold = settings.exact_threshold;
  settings.memory_floor_bytes = settings.exact_floor_bytes;
  return settings;
}

Settings settings_of_operator(Settings settings) {
  settings.gate *= settings.operator_threshold / settings.threshold;
  settings.threshold = settings.operator_threshold;
  return settings;
}

}  // namespace torchwatch::detect
