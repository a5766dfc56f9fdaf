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
  Estimate estimate;
  std::string reason;
};

/// Screening: cheap for healthy series, drops out as soon as a change of `threshold` is excluded
/// either way, promotes what may be one (worse or better).
ScreenDecision screen(std::span<const double> log_ratios, const Settings&);

struct ConfirmDecision {
  bool measure_more = true;
  Verdict verdict = Verdict::inconclusive;  ///< once measure_more is false
  Estimate estimate;                        ///< from these fresh pairs alone
  std::string reason;  ///< "+15.2 % [13.1, 17.4] at 99 %, 24 pairs"; never claims more than it holds
};

/// Confirmation on fresh pairs only; the pairs that raised the suspicion take no part.
ConfirmDecision confirm(std::span<const double> log_ratios, const Settings&);

}  // namespace torchwatch::detect
