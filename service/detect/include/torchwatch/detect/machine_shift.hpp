#pragma once

#include <optional>
#include <span>

#include "torchwatch/detect/estimate.hpp"
#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {

/// Whether a machine measures otherwise than before, from the log-ratios (now / before) of several
/// series of one and the same build: their centre, when its whole interval lies beyond half the
/// threshold. Where there are too few for an interval all of them must lie there, and their range
/// takes its place; one alone tells nothing. Empty: as before, as far as these tell. Every
/// log-ratio must be finite.
std::optional<Estimate> machine_shift(std::span<const double> log_ratios, const Settings&);

}  // namespace torchwatch::detect
