#pragma once

#include <vector>

#include "torchwatch/nightly/comparison.hpp"

namespace torchwatch::nightly {

/// Series that run with neither build, and had a verdict the night before: they are lost as well,
/// by what surrounds the builds. `before` are that night's verdicts.
void mark_newly_silent(const std::vector<storage::VerdictRow>& before, std::vector<Finding>&);

}  // namespace torchwatch::nightly
