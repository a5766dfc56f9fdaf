#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "torchwatch/nightly/noise.hpp"

namespace torchwatch::cli {

/// For each cell the noise of a pair, the least slowdown that a night finds nine times in ten, and
/// the minutes that such a night and one without a change take.
void print_noise(std::ostream&, const std::vector<nightly::NoiseFigure>&, double threshold);
nlohmann::json noise_json(const std::vector<nightly::NoiseFigure>&);

}  // namespace torchwatch::cli
