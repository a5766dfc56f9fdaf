#pragma once

#include <filesystem>
#include <vector>

#include "torchwatch/daemon/fitness.hpp"

namespace torchwatch::daemon {

/// What makes times noisy on a machine, from what its kernel shows under `root` ("/" but in tests).
/// What is not shown there is good: a guest cannot change its host's clocks.
std::vector<FitnessFinding> check_machine(const std::filesystem::path& root);

}  // namespace torchwatch::daemon
