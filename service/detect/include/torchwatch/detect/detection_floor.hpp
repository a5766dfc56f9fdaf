#pragma once

#include <cstdint>
#include <span>

#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {

/// What `screen` and `confirm` would do for a series, night after night.
struct DetectionFloor {
  double change = 0;          ///< least ratio - 1 called regressed in nine nights of ten; infinite
                              ///< where not even a doubling is
  double runs_changed = 0;    ///< mean runs of a night with that change
  double runs_unchanged = 0;  ///< mean runs of a night without one
};

/// Foretold from pairs of a build with itself: nights are simulated whose pairs are drawn from these,
/// either way round, as two like runs differ symmetrically. Says nothing of disturbances that did
/// not occur among them. Needs at least two pairs, all finite; the same seed gives the same answer.
DetectionFloor foretell_floor(std::span<const double> same_build_log_ratios, const Settings&,
                              std::uint64_t seed = 1);

}  // namespace torchwatch::detect
