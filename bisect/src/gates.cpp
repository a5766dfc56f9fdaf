#include "gates.hpp"

#include <algorithm>
#include <cmath>

#include "hypotheses.hpp"

namespace torchwatch::bisect {
namespace {

constexpr int kFirstPairs = 4;
constexpr int kExactPairs = 2;
constexpr int kBatchMin = 2;
constexpr int kBatchMax = 4;

/// A change of this many spreads is seen in a single pair.
constexpr double kExactRatio = 20;

/// A difference of two builds below this many spreads between builds may be the builds' own.
constexpr double kBuildSpreads = 3;

}  // namespace

Gate ends_gate(const SearchTarget& target) {
  const int pairs_min = target.noise_sd > 0 ? kFirstPairs : kExactPairs;
  return {target.minimum_effect, 4, 2.5, pairs_min, 120};
}

Gate culprit_gate(const Evidence& evidence, double change, int verify_pairs) {
  const bool is_exact = kExactRatio * likelihood_scale(evidence, change) < change;
  const double floor = std::max(
      {evidence.target().minimum_effect / 3, change / 4, kBuildSpreads * evidence.build_spread()});
  return {floor, 4, 2.5, is_exact ? std::min(kExactPairs, verify_pairs) : verify_pairs, 80};
}

Gate rest_gate(const Evidence& evidence) {
  const SearchTarget& target = evidence.target();
  const int pairs_min = target.noise_sd > 0 ? kFirstPairs : 1;
  const double floor = std::max(target.minimum_effect, kBuildSpreads * evidence.build_spread());
  return {floor, 4, 1, pairs_min, 48};
}

Finding judge(const Estimate& estimate, const Gate& gate) {
  if (estimate.count < gate.pairs_min) return Finding::open;
  const bool is_clear = estimate.centre > gate.errors_over * estimate.error;
  if (is_clear && estimate.centre >= gate.floor) return Finding::shows;
  if (estimate.centre + gate.errors_under * estimate.error < gate.floor) return Finding::nothing;
  return estimate.count < gate.pairs_max ? Finding::open : Finding::nothing;
}

int next_pairs(const Estimate& estimate, const Gate& gate) {
  if (estimate.count < gate.pairs_min) return gate.pairs_min - estimate.count;
  if (estimate.centre <= 0) return kBatchMin;
  const double spread = estimate.error * std::sqrt(estimate.count);
  const double wanted = std::pow(gate.errors_over * spread / estimate.centre, 2) - estimate.count;
  return static_cast<int>(std::clamp(std::ceil(wanted), double{kBatchMin}, double{kBatchMax}));
}

}  // namespace torchwatch::bisect
