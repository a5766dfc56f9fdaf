#pragma once

#include <span>

#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {

/// Returns the least ratio - 1 that screening would have suspected nine times in ten after these
/// pairs, which need to be at least two.
double suspected_from(std::span<const double> log_ratios, const Settings&);

/// Returns the least ratio - 1 that the last look, which sees these pairs, would have confirmed
/// nine times in ten. Needs at least two pairs.
double confirmed_from(std::span<const double> log_ratios, const Settings&);

}  // namespace torchwatch::detect
