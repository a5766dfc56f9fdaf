#pragma once

#include "torchwatch/follow_ups/follow_ups.hpp"

namespace torchwatch::follow_ups {

/// Incidents that are looked at.
inline constexpr int kIncidentsMax = 1000;

/// Opens a recheck for each open incident of an earlier nightly: the candidate compared with the
/// incident's last good build, in the incident's series.
Status open_rechecks(comparison::Services&, const comparison::Comparison& nightly);

/// Every [detect] drift_every nightlies, opens comparisons of the candidate with the build of
/// drift_span nightlies before. Both are measured again, so that changes too small for one nightly
/// add up. A benchmark with a known change since then (an open or accepted incident) is compared
/// with the build that has it.
Status open_drift_comparisons(comparison::Services&, const comparison::Comparison& nightly);

}  // namespace torchwatch::follow_ups
