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

// Pairs after which a gate is left: the more rests on the answer, the more may be spent on it.
constexpr int kEndsPairsMax = 120;
constexpr int kCulpritPairsMax = 80;
constexpr int kRestPairsMax = 48;

/// Standard errors that show a change. A gate is looked at after every batch of pairs, so they are
/// more than one look at a fixed number of pairs would need.
constexpr double kErrorsToShow = 4;

// Standard errors below the floor that rule a change out. A rest is left sooner: it may be noise
// beside a culprit that is found, and every rest that is searched costs builds.
constexpr double kErrorsToRuleOut = 2.5;
constexpr double kErrorsToLeaveRest = 1;

// A culprit counts from these parts of the series's smallest effect and of the searched change on.
constexpr double kCulpritPartOfMinimum = 1.0 / 3;
constexpr double kCulpritPartOfChange = 1.0 / 4;

/// A change of this many spreads is seen in a single pair.
constexpr double kExactRatio = 20;

/// The smallest change that enough pairs show.
double least_shown(const Gate& gate) {
  return std::max(gate.floor, gate.errors_over * gate.build_spread);
}

bool is_ruled_out(const Estimate& estimate, const Gate& gate) {
  return estimate.centre + gate.errors_under * estimate.error < least_shown(gate);
}

}  // namespace

Gate ends_gate(const Evidence& evidence) {
  const SearchSeries& series = evidence.series();
  const int pairs_min = series.noise_sd > 0 ? kFirstPairs : kExactPairs;
  return {.floor = series.minimum_effect,
          .build_spread = evidence.build_spread(),
          .errors_over = kErrorsToShow,
          .errors_under = kErrorsToRuleOut,
          .pairs_min = pairs_min,
          .pairs_max = kEndsPairsMax};
}

Gate culprit_gate(const Evidence& evidence, double change, int verify_pairs) {
  const bool is_exact = kExactRatio * likelihood_scale(evidence, change) < change;
  return {.floor = std::max(kCulpritPartOfMinimum * evidence.series().minimum_effect,
                            kCulpritPartOfChange * change),
          .build_spread = evidence.build_spread(),
          .errors_over = kErrorsToShow,
          .errors_under = kErrorsToRuleOut,
          .pairs_min = is_exact ? std::min(kExactPairs, verify_pairs) : verify_pairs,
          .pairs_max = kCulpritPairsMax};
}

Gate rest_gate(const Evidence& evidence) {
  const SearchSeries& series = evidence.series();
  const int pairs_min = series.noise_sd > 0 ? kFirstPairs : 1;
  return {.floor = series.minimum_effect,
          .build_spread = evidence.build_spread(),
          .errors_over = kErrorsToShow,
          .errors_under = kErrorsToLeaveRest,
          .pairs_min = pairs_min,
          .pairs_max = kRestPairsMax};
}

EffectState judge(const Estimate& estimate, const Gate& gate) {
  if (estimate.count < gate.pairs_min) return EffectState::open;
  const double error = std::hypot(estimate.error, gate.build_spread);
  const bool is_clear = estimate.centre > gate.errors_over * error;
  if (is_clear && estimate.centre >= gate.floor) return EffectState::shows;
  if (is_ruled_out(estimate, gate)) return EffectState::nothing;
  return estimate.count < gate.pairs_max ? EffectState::open : EffectState::nothing;
}

bool is_left_open(const Estimate& estimate, const Gate& gate) {
  return judge(estimate, gate) == EffectState::nothing && !is_ruled_out(estimate, gate);
}

int next_pairs(const Estimate& estimate, const Gate& gate) {
  if (estimate.count < gate.pairs_min) return gate.pairs_min - estimate.count;
  if (estimate.centre <= 0) return kBatchMin;
  const double of_one_squared = estimate.error * estimate.error * estimate.count;
  const double wanted_squared =
      std::pow(estimate.centre / gate.errors_over, 2) - gate.build_spread * gate.build_spread;
  if (wanted_squared <= 0) return kBatchMax;
  const double wanted = of_one_squared / wanted_squared - estimate.count;
  return static_cast<int>(std::clamp(std::ceil(wanted), double{kBatchMin}, double{kBatchMax}));
}

}  // namespace torchwatch::bisect
