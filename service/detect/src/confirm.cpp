#include <algorithm>
#include <cmath>
#include <vector>

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

// Exact chance, over all looks, of confirming a change of only half the threshold.
constexpr double kHalfThresholdTail = 0.004;
// Exact chance, at each look, of calling a change of the gate's size unchanged.
constexpr double kOverlookTail = 0.02;

/// Numbers of pairs at which a decision may fall, each twice the one before, in whole A B B A
/// blocks. They are few, because each look gets only its share of the allowed errors.
std::vector<int> interim_looks(const Settings& settings) {
  const int least = std::max(2, settings.confirm_pairs_min + settings.confirm_pairs_min % 2);
  const int most = std::max(least, settings.confirm_pairs_max + settings.confirm_pairs_max % 2);
  std::vector<int> looks;
  for (int pairs = least; pairs < most; pairs *= 2) looks.push_back(pairs);
  looks.push_back(most);
  return looks;
}

double error_share_of(const std::vector<int>& looks) {
  return 1.0 / static_cast<double>(looks.size());
}

/// The pairs of one look, and its share of every allowed error.
struct InterimLook {
  std::span<const double> log_ratios;
  double error_share;
  bool is_last;

  [[nodiscard]] int pairs() const { return static_cast<int>(log_ratios.size()); }
};

/// Returns an interval that holds at the stated confidence although there are several looks. Where
/// that is too high for the signed-rank test of these pairs it is the one of Yuen's t.
Estimate estimate_at(const InterimLook& look, const Settings& settings) {
  const double error = (1 - settings.confidence) * look.error_share;
  Estimate result = estimate(look.log_ratios, 1 - error);
  result.confidence = settings.confidence;
  if (std::isfinite(result.high)) return result;
  const auto trimmed = trimmed_mean(look.log_ratios, settings.noise_floor);
  const double reach = std::exp(t_beyond(trimmed.degrees_of_freedom, error / 2) * trimmed.error);
  result.low = result.ratio / reach;
  result.high = result.ratio * reach;
  return result;
}

/// Checks all three conditions for a change upwards. The signed-rank bound holds for any symmetric
/// noise but cannot reach chances below 2^-pairs; the t statistic closes the gap to alpha.
/// `strict`: the interval that must lie above half the threshold.
bool is_increase(const InterimLook& look, double centre, const RankInterval& strict,
                 const Settings& settings) {
  if (centre < std::log1p(settings.gate)) return false;
  if (strict.low <= std::log1p(settings.threshold / 2)) return false;
  const auto trimmed = trimmed_mean(look.log_ratios, settings.noise_floor);
  return trimmed.mean > 0 && one_sided_p(trimmed) <= settings.alpha * look.error_share;
}

bool excludes(const RankInterval& interval, double log_change) {
  return interval.high < log_change && interval.low > -log_change;
}

/// Returns the least change that would have been confirmed at this look nine times in ten.
double detectable(const InterimLook& look, const Settings& settings) {
  constexpr double kMissed = 0.1;
  const auto trimmed = trimmed_mean(look.log_ratios, settings.noise_floor);
  const double over_none =
      t_beyond(trimmed.degrees_of_freedom, settings.alpha * look.error_share) * trimmed.error;
  const double over_half =
      std::log1p(settings.threshold / 2) +
      t_beyond(trimmed.degrees_of_freedom, kHalfThresholdTail * look.error_share) * trimmed.error;
  const double needed = std::max({over_none, over_half, std::log1p(settings.gate)});
  return std::expm1(needed + normal_beyond(kMissed) * trimmed.error);
}

ConfirmDecision decided(Verdict verdict, Estimate estimate, const std::string& remark) {
  ConfirmDecision decision;
  decision.measure_more = false;
  decision.verdict = verdict;
  decision.reason = in_words(estimate) + remark;
  decision.estimate = estimate;
  return decision;
}

/// Decides at the last look: unchanged, or inconclusive with the change that would have been found.
ConfirmDecision last_word(const InterimLook& look, const Estimate& estimate, double centre,
                          const RankInterval& plausible, const Settings& settings) {
  if (std::abs(centre) < std::log1p(settings.gate) &&
      excludes(plausible, std::log1p(settings.threshold))) {
    return decided(Verdict::unchanged, estimate,
                   ": below the gate of " + figures::change(1 + settings.gate));
  }
  const double least = detectable(look, settings);
  auto decision = decided(Verdict::inconclusive, estimate,
                          ": too noisy to tell; a change from " + figures::change(1 + least) +
                              " on would have been confirmed");
  decision.detectable = least;
  return decision;
}

ConfirmDecision decide(const InterimLook& look, const Settings& settings) {
  const auto averages = walsh_averages(look.log_ratios);
  const double centre = median(averages);
  const auto strict = rank_interval(averages, look.pairs(), kHalfThresholdTail * look.error_share);
  const auto plausible = rank_interval(averages, look.pairs(), kOverlookTail);
  const Estimate estimate = estimate_at(look, settings);

  if (is_increase(look, centre, strict, settings)) {
    return decided(Verdict::regressed, estimate, "");
  }
  std::vector<double> mirrored(look.log_ratios.begin(), look.log_ratios.end());
  for (double& value : mirrored) value = -value;
  const InterimLook mirror{mirrored, look.error_share, look.is_last};
  if (is_increase(mirror, -centre, {-strict.high, -strict.low}, settings)) {
    return decided(Verdict::improved, estimate, "");
  }
  if (excludes(plausible, std::log1p(settings.gate))) {
    return decided(Verdict::unchanged, estimate,
                   ": below the gate of " + figures::change(1 + settings.gate));
  }
  if (look.is_last) return last_word(look, estimate, centre, plausible, settings);
  ConfirmDecision undecided;
  undecided.estimate = estimate;
  undecided.reason = in_words(estimate) + ": undecided";
  return undecided;
}

/// Returns whether the interval of the last look would lie below `most`, were its estimate this
/// one: it gets narrower by the root of the pairs.
bool may_show(const Estimate& estimate, double most, int last_pairs) {
  const double narrowing = std::sqrt(static_cast<double>(estimate.pairs) / last_pairs);
  return estimate.ratio * std::pow(estimate.high / estimate.ratio, narrowing) < most;
}

}  // namespace

double confirmed_from(std::span<const double> log_ratios, const Settings& settings) {
  return detectable({log_ratios, error_share_of(interim_looks(settings)), true}, settings);
}

ConfirmDecision confirm(std::span<const double> log_ratios, const Settings& settings) {
  const auto looks = interim_looks(settings);
  const double error_share = error_share_of(looks);
  ConfirmDecision decision;
  if (!are_usable(log_ratios)) {
    decision.measure_more = false;
    decision.reason = kUnusablePair;
    return decision;
  }
  decision.estimate = estimate(log_ratios, settings.confidence);
  decision.reason = in_words(decision.estimate);
  for (const int pairs : looks) {
    decision.pairs_next = pairs;
    const auto needed = static_cast<std::size_t>(pairs);
    if (log_ratios.size() < needed) return decision;
    decision =
        decide(InterimLook{log_ratios.first(needed), error_share, pairs == looks.back()}, settings);
    if (!decision.measure_more) return decision;
  }
  return decision;  // not reached: the last look decides
}

double half_of_change(double ratio) {
  return std::sqrt(ratio);
}

RestDecision bound_rest(std::span<const double> log_ratios, const Estimate& known, double most,
                        const Settings& settings) {
  RestDecision decision{.measure_more = false, .estimate = known, .reason = in_words(known)};
  if (known.high < most) return decision;
  const auto looks = interim_looks(settings);
  for (const int pairs : looks) {
    if (pairs < known.pairs) continue;
    const auto needed = static_cast<std::size_t>(pairs);
    decision.measure_more = log_ratios.size() < needed;
    if (decision.measure_more) return decision;
    const InterimLook look{log_ratios.first(needed), error_share_of(looks), pairs == looks.back()};
    decision.estimate = estimate_at(look, settings);
    decision.reason = in_words(decision.estimate);
    if (decision.estimate.high < most || !may_show(decision.estimate, most, looks.back())) break;
  }
  return decision;
}

}  // namespace torchwatch::detect
