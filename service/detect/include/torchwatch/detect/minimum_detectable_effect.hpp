#pragma once

#include <cstdint>
#include <span>

#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {

/// The smallest change that `screen` and `confirm` find in a series, and what it costs.
struct MinimumDetectableEffect {
  double change = 0;  ///< least ratio - 1 called regressed in nine comparisons of ten; infinity
                      ///< where a doubling is not
  double runs_changed = 0;    ///< mean runs of a comparison with that change
  double runs_unchanged = 0;  ///< mean runs of a comparison without one
};

/// Simulates comparisons whose pairs are drawn, with either sign, from pairs of a build with
/// itself: two runs of one build differ symmetrically. Disturbances that do not occur in these
/// pairs are ignored. Needs at least two pairs, all finite; the same seed gives the same result.
MinimumDetectableEffect estimate_minimum_detectable_effect(
    std::span<const double> same_build_log_ratios, const Settings&, std::uint64_t seed = 1);

/// Returns the least change of that simulation without simulating: the one that both rules say
/// would have been found, had their last looks seen this noise. Takes microseconds where a
/// simulation takes up to a second. For normal noise it is within a tenth of it with a spread of up
/// to 5 %, and beyond up to a fifth too small. Needs at least two pairs, all finite.
double predict_minimum_detectable_effect(std::span<const double> same_build_log_ratios,
                                         const Settings&);

}  // namespace torchwatch::detect
