#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/measurement/noise.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::measuring {

/// Prints for each benchmark the noise of a pair, the minimum detectable effect, and the time
/// that a nightly comparison with such a change and one without a change take.
void print_noise(std::ostream&, const std::vector<measurement::NoiseFigure>&,
                 const terminal::Screen&);
/// What it is as JSON: its `value` is the median time, its `pair_spread` that of the logarithm of a
/// pair's ratio, `minimum_detectable_effect` a ratio - 1.
nlohmann::json noise_json(const std::vector<measurement::NoiseFigure>&);

}  // namespace torchwatch::measuring
