#pragma once

#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::activity {

/// Whether the NVIDIA driver finds a GPU. CUPTI cannot be asked: without a driver it answers some
/// calls and fails others with "unknown" (measurement.md 1.5). Sets no device up.
/// Errors: unavailable, saying what to do: no driver, the toolkit's stub, no device, an unfit one.
Status find_cuda_device(const std::vector<std::string>& library_names);

}  // namespace torchwatch::activity
