#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/run_result.hpp"

namespace torchwatch::storage {

/// What a workload computed, as JSON; null stands for a number that is not finite.
std::string text_of_outputs(const std::vector<OutputFigures>&);
/// Errors: corrupt.
Result<std::vector<OutputFigures>> parse_outputs(std::string_view text);

}  // namespace torchwatch::storage
