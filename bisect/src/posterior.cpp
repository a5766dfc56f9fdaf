#include "torchwatch/bisect/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace torchwatch::bisect {

int commits_left(const std::vector<double>& posterior) {
  double bits = 0;
  for (const auto probability : posterior) {
    if (probability > 0) bits -= probability * std::log2(probability);
  }
  return static_cast<int>(std::lround(bits));
}

int commits_holding(const std::vector<double>& posterior, double probability) {
  auto likely_first = posterior;
  std::ranges::sort(likely_first, std::greater{});
  double mass = 0;
  int commits = 0;
  for (const auto each : likely_first) {
    if (each <= 0 || mass >= probability) break;
    mass += each;
    ++commits;
  }
  return commits;
}

}  // namespace torchwatch::bisect
