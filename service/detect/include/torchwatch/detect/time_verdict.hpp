#pragma once

#include <span>
#include <string>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::detect {

/// What to do next with a series, given all pairs of this stage so far. A pure function: called
/// again with the same pairs it says the same, so a killed night goes on where it was.
enum class ScreenStep { measure_more, unchanged, suspect, too_noisy };
struct ScreenDecision {
  ScreenStep step = ScreenStep::measure_more;
  /// Its interval is that of one look; only a confirmed one allows for several. With too few pairs
  /// for the signed-rank test it is that of t, `prior_pair_sd` counting as four more pairs.
  Estimate estimate;
  std::string reason;
  int pairs_next = 0;     ///< with measure_more: ask again when there are so many pairs in all
  double detectable = 0;  ///< of too_noisy: the least ratio - 1 that would have been found
};

/// Screening: cheap for healthy series, drops out as soon as a change of `threshold` is excluded
/// either way, promotes what may be one (worse or better). A pair that is not finite ends it as
/// too_noisy (in `confirm` as inconclusive), with the reason.
ScreenDecision screen(std::span<const double> log_ratios, const Settings&);

struct ConfirmDecision {
  bool measure_more = true;
  Verdict verdict = Verdict::inconclusive;  ///< once measure_more is false
  Estimate estimate;                        ///< from these fresh pairs alone
  /// "+15.2 % [13.1, 17.4] at 99 %, 24 pairs"; never claims more than it holds.
  std::string reason;
  int pairs_next = 0;     ///< with measure_more: ask again when there are so many pairs in all
  double detectable = 0;  ///< of inconclusive: the least ratio - 1 that would have been found
};

/// Confirmation on fresh pairs only; the pairs that raised the suspicion take no part.
/// Looks at fixed numbers of pairs, each with its share of the errors allowed, and decides at the
/// first that can; pairs beyond that look are not used. So the interval holds at the confidence
/// stated in spite of the looking. The rule and its measured errors are in the room's README.
ConfirmDecision confirm(std::span<const double> log_ratios, const Settings&);

}  // namespace torchwatch::detect
