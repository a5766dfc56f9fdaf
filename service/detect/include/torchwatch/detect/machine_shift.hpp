#pragma once

#include <optional>
#include <span>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {

/// Returns by how much a machine measures differently from before, or nothing. `log_ratios` are now
/// / before of several series of one build. Their centre is returned when its whole interval lies
/// beyond half the threshold. Too few series for an interval must all lie there, and their range
/// takes its place; a single series is not evidence. Every log-ratio must be finite.
std::optional<Estimate> machine_shift(std::span<const double> log_ratios, const Settings&);

}  // namespace torchwatch::detect
