#pragma once

#include <string>

#include "torchwatch/detect/estimate.hpp"

namespace torchwatch::detect {

/// Writes an estimate for a verdict's reason: "+15.2 % [+13.1, +17.4] at 99 %, 24 pairs". Too few
/// pairs have no interval.
std::string in_words(const Estimate&);

}  // namespace torchwatch::detect
