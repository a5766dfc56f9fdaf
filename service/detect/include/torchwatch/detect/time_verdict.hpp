#pragma once

#include <span>
#include <string>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::detect {

/// The tail, on either side, beyond which the look that calls a series unchanged excludes a change
/// of the threshold. Series are looked at several times, so more of such changes are missed:
/// docs/deciding.md says how many.
inline constexpr double kUnchangedTail = 0.025;

enum class ScreenStep { measure_more, unchanged, suspect, too_noisy };

/// What to do next with a series after screening.
struct ScreenDecision {
  ScreenStep step = ScreenStep::measure_more;
  /// The interval ignores interim looks; only that of a confirmed series allows for them. With too
  /// few pairs for the signed-rank test it is that of t, `prior_pair_sd` counting as four pairs.
  Estimate estimate;
  std::string reason;
  int pairs_next = 0;     ///< with measure_more: the total number of pairs to call again with
  double detectable = 0;  ///< with too_noisy: the least ratio - 1 that would have been found
};

/// Screens a series, given all its screening pairs. It ends as unchanged as soon as a change of
/// `threshold` is excluded either way, and as suspect when there may be one, worse or better. The
/// first number of pairs that can decide does; later pairs, which another series of the benchmark
/// may have asked for, are not used. A pair that is not finite ends it as too_noisy with the
/// reason. The same pairs give the same decision, so a killed comparison continues where it was.
ScreenDecision screen(std::span<const double> log_ratios, const Settings&);

/// What to do next with a suspected series.
struct ConfirmDecision {
  bool measure_more = true;
  Verdict verdict = Verdict::inconclusive;  ///< once measure_more is false
  Estimate estimate;                        ///< from the fresh pairs alone
  std::string reason;                       ///< "+15.2 % [+13.1, +17.4] at 99 %, 24 pairs"
  int pairs_next = 0;     ///< with measure_more: the total number of pairs to call again with
  double detectable = 0;  ///< with inconclusive: the least ratio - 1 that would have been found
};

/// Confirms a series on fresh pairs only; the pairs that raised the suspicion take no part. Interim
/// looks at fixed numbers of pairs have each their share of the allowed errors. The first look that
/// can decide does, and later pairs are not used, so the interval holds at the stated confidence.
/// A pair that is not finite ends it as inconclusive. docs/deciding.md explains the rule.
ConfirmDecision confirm(std::span<const double> log_ratios, const Settings&);

/// Returns the ratio that half of a change to `ratio` makes. Of a change, less than half is left
/// where the whole interval lies below. `ratio` must be above 0.
double half_of_change(double ratio);

/// What to do next with a series that is unchanged, but may keep some of an earlier change.
struct RestDecision {
  bool measure_more = false;
  Estimate estimate;   ///< from the look that decided; as it was given where that says enough
  std::string reason;  ///< of that estimate
};

/// Bounds what is left of a change that was seen before: measures on until the whole interval lies
/// below `most`, a ratio. Ends without that after the last look of `confirm`, and as soon as no
/// later look is likely to show it. `known` is the estimate by which the series is unchanged,
/// `log_ratios` are the pairs of that stage and those measured since. The looks are those of
/// `confirm`, so an interval holds at the stated confidence. The pairs must be finite.
RestDecision bound_rest(std::span<const double> log_ratios, const Estimate& known, double most,
                        const Settings&);

}  // namespace torchwatch::detect
