#include "torchwatch/bisect/revert_gate.hpp"

#include <cmath>

#include "evidence.hpp"

namespace torchwatch::bisect {
namespace {

/// The part of an effect that must go with the culprit.
constexpr double kPartGone = 0.5;
/// Standard errors that tell on which side of that part an effect lies. A right culprit lies as far
/// above it as one that is contradicted lies below.
constexpr double kErrorsToTell = 2.5;
/// Standard errors of half of a 99 % interval.
constexpr double kErrorsOfInterval = 2.576;
constexpr int kPairsMax = 48;

}  // namespace

RevertReading judge_revert(const SearchSeries& series, const Effect& of_culprit,
                           const std::vector<double>& pairs) {
  constexpr Span kReverted{0, 1};
  Evidence evidence(series);
  evidence.add(kReverted, pairs);
  const Estimate measured = evidence.direct(kReverted);
  const double over = measured.centre - kPartGone * of_culprit.effect;
  // To contradict takes in what the effect itself was measured by, and what builds differ by.
  const double of_effect = kPartGone * (of_culprit.high - of_culprit.low) / 2 / kErrorsOfInterval;
  const double error = std::hypot(measured.error, of_effect, evidence.build_spread());
  const bool is_last = measured.count >= kPairsMax;
  RevertReading reading{.state = RevertState::open, .effect = measured.centre};
  if (over >= (is_last ? 0 : kErrorsToTell * measured.error)) {
    reading.state = RevertState::gone;
  } else if (over < -kErrorsToTell * error) {
    reading.state = RevertState::stays;
  } else if (is_last) {
    reading.state = RevertState::undecided;
  }
  return reading;
}

}  // namespace torchwatch::bisect
