#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::detect {

/// Returns how far two runs' outputs are apart, in 1e-9 of the outputs' size: the greatest
/// difference of any two figures. Outputs of other names, shapes or types, and numbers beside what
/// is not finite, are kOutputDifferenceMax apart.
std::int64_t output_difference(const std::vector<OutputFigures>&,
                               const std::vector<OutputFigures>&);

/// Returns the name of the output that is furthest apart; empty where all are equal, or where they
/// are not the same outputs.
std::string furthest_output(const std::vector<OutputFigures>&, const std::vector<OutputFigures>&);

/// Returns up to which difference outputs count as equal, in 1e-9: `output_tolerance`, but for
/// types of 16 bits and products of tf32 at least eight units of their last place.
std::int64_t tolerated_difference(Precision, const Settings&);

/// Judges differences from the baseline's first run. Outputs changed (the verdict is `regressed`)
/// when every candidate run differs by more than is tolerated, and by ten times what the baseline's
/// own runs do; where no difference could, it is inconclusive. There is no ratio.
MemoryDecision judge_outputs(std::span<const std::int64_t> baseline,
                             std::span<const std::int64_t> candidate, Precision, const Settings&);

}  // namespace torchwatch::detect
