#pragma once

#include <cstdint>
#include <string>

#include "torchwatch/detect/estimate.hpp"

namespace torchwatch::detect {

/// A ratio as its change: 1.152 is "+15.2 %".
std::string in_percent(double ratio);

/// "+15.2 % [13.1, 17.4] at 99 %, 24 pairs"; without an interval where there is none.
std::string in_words(const Estimate&);

/// "1,329,152", with a sign where asked for.
std::string grouped(std::int64_t number, bool with_sign);

}  // namespace torchwatch::detect
