#pragma once

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::daemon {

enum class Fitness {
  good,
  disturbs,  ///< works, but measures worse than it could
  fails,     ///< a night would not come to its end
};

struct FitnessFinding {
  Fitness fitness = Fitness::good;
  std::string what;
  std::string found;
  std::string remedy;  ///< what to do; empty where it is good
};

/// Looks at this machine and at everything the configuration names; measures and changes nothing.
std::vector<FitnessFinding> check_fitness(const config::Config&);

}  // namespace torchwatch::daemon
