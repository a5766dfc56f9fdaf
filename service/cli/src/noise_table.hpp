#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/comparison/noise.hpp"

namespace torchwatch::cli {

/// Prints for each benchmark the noise of a pair, the minimum detectable effect, and the minutes
/// that a comparison with such a change and one without a change take. `threshold` is the one
/// configured.
void print_noise(std::ostream&, const std::vector<comparison::NoiseFigure>&, double threshold);
nlohmann::json noise_json(const std::vector<comparison::NoiseFigure>&);

}  // namespace torchwatch::cli
