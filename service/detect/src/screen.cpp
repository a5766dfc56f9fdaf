#include <algorithm>
#include <cmath>
#include <cstddef>

#include "detectable.hpp"
#include "signed_rank.hpp"
#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/statistics.hpp"
#include "trimmed_mean.hpp"
#include "usable_pairs.hpp"
#include "wording.hpp"

namespace torchwatch::detect {
namespace {

// Chosen on recorded noise (see the README): a healthy series leaves after four pairs on average,
// fewer than one in two hundred series that are 10 % slower leave unnoticed.
constexpr double kDropTail = kUnchangedTail;  // of overlooking a change of the threshold, per look
constexpr double kSuspectTail = 0.01;         // chance of suspecting without cause, per look
constexpr double kSuspectShareOfGate = 0.75;  // a suspect's estimate reaches this much of the gate
constexpr int kSuspectPairs = 4;              // two pairs can still be one disturbance
// How many pairs the prior spread counts for. Two or four pairs say little about the noise; series
// differ in it about as much as four pairs of one series do.
constexpr double kPriorPairs = 4;
constexpr double kThresholdOfPrior = 0.07;  // with which prior_pair_sd is expected

struct Centre {
  double mean;
  double error;
  double degrees_of_freedom;
};

/// Returns the spread of a pair that is expected before any is seen, in proportion to the
/// threshold: pairs that scatter by as much as a small one cannot show it anyway, and a large one
/// is set where they scatter a lot.
double expected_pair_sd(const Settings& settings) {
  return settings.prior_pair_sd * (settings.threshold / kThresholdOfPrior);
}

/// Returns a robust centre with a spread from all pairs: wild ones make it measure more.
Centre centre_of(std::span<const double> log_ratios, const Settings& settings) {
  const auto n = static_cast<double>(log_ratios.size());
  double mean = 0;
  for (const double value : log_ratios) mean += value / n;
  double squares = kPriorPairs * std::pow(expected_pair_sd(settings), 2);
  for (const double value : log_ratios) squares += (value - mean) * (value - mean);
  const double degrees = kPriorPairs + n - 1;
  const double sd = std::max(std::sqrt(squares / degrees), settings.noise_floor);
  return {median(walsh_averages(log_ratios)), sd / std::sqrt(n), degrees};
}

/// Sets the interval of t, with the spread of `centre`, where there are too few pairs for the
/// signed-rank test.
void bound_by_t(Estimate& estimate, const Centre& centre) {
  const double reach =
      t_beyond(centre.degrees_of_freedom, (1 - estimate.confidence) / 2) * centre.error;
  estimate.low = std::exp(centre.mean - reach);
  estimate.high = std::exp(centre.mean + reach);
}

/// Returns the least change that would have been suspected nine times in ten with this error.
double detectable(const Centre& centre, const Settings& settings) {
  constexpr double kMissed = 0.1;
  const double reached = t_beyond(centre.degrees_of_freedom, kSuspectTail) * centre.error;
  const double needed = std::max(reached, kSuspectShareOfGate * std::log1p(settings.gate));
  return std::expm1(needed + normal_beyond(kMissed) * centre.error);
}

bool excludes_threshold(const Centre& centre, const Settings& settings) {
  const double rest = std::log1p(settings.threshold) - std::abs(centre.mean);
  return rest > 0 && t_beyond(centre.degrees_of_freedom, kDropTail) * centre.error < rest;
}

bool suggests_change(const Centre& centre, const Settings& settings) {
  const double least = kSuspectShareOfGate * std::log1p(settings.gate);
  return std::abs(centre.mean) >= least &&
         std::abs(centre.mean) > t_beyond(centre.degrees_of_freedom, kSuspectTail) * centre.error;
}

/// Decides on the centre of that many pairs, of which there are two or more.
ScreenStep step_of(const Centre& centre, int pairs, const Settings& settings) {
  if (excludes_threshold(centre, settings)) return ScreenStep::unchanged;
  if (pairs >= kSuspectPairs && suggests_change(centre, settings)) return ScreenStep::suspect;
  return pairs >= settings.screen_pairs_max ? ScreenStep::too_noisy : ScreenStep::measure_more;
}

/// What a step says of the pairs that it was decided on.
ScreenDecision decision_of(ScreenStep step, std::span<const double> log_ratios,
                           const Centre& centre, const Settings& settings) {
  ScreenDecision decision;
  decision.step = step;
  decision.estimate = estimate(log_ratios, settings.confidence);
  if (!std::isfinite(decision.estimate.high)) bound_by_t(decision.estimate, centre);
  decision.reason = in_words(decision.estimate);
  if (step == ScreenStep::suspect) decision.reason += ": to be confirmed";
  if (step == ScreenStep::too_noisy) {
    decision.detectable = detectable(centre, settings);
    decision.reason += ": too noisy; a change from " + figures::change(1 + decision.detectable) +
                       " on would have been noticed";
  }
  return decision;
}

}  // namespace

double suspected_from(std::span<const double> log_ratios, const Settings& settings) {
  return detectable(centre_of(log_ratios, settings), settings);
}

ScreenDecision screen(std::span<const double> log_ratios, const Settings& settings) {
  if (!are_usable(log_ratios)) {
    return {.step = ScreenStep::too_noisy, .estimate = {}, .reason = kUnusablePair};
  }
  int needed = std::max(2, settings.screen_pairs_min);
  const auto are_there = [&] { return log_ratios.size() >= static_cast<std::size_t>(needed); };
  if (!are_there()) {
    return {
        .estimate = estimate(log_ratios, settings.confidence), .reason = {}, .pairs_next = needed};
  }
  auto step = ScreenStep::measure_more;
  std::span<const double> decided_on;
  Centre centre{};
  while (step == ScreenStep::measure_more && are_there()) {
    decided_on = log_ratios.first(static_cast<std::size_t>(needed));
    centre = centre_of(decided_on, settings);
    step = step_of(centre, needed, settings);
    needed = std::min(needed + 2, settings.screen_pairs_max);
  }
  auto decision = decision_of(step, decided_on, centre, settings);
  if (step == ScreenStep::measure_more) decision.pairs_next = needed;
  return decision;
}

}  // namespace torchwatch::detect
