#pragma once

#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::nightly {

/// measured -> judged: stores verdicts, new incidents with their bisections, and which open
/// incidents are there again, all in one transaction. Errors: of storage.
Result<storage::ComparisonRow> judge_comparison(comparison::Services&,
                                                const comparison::Comparison&);

/// Marks series as lost that run with neither build and had a value in the nightly before, whose
/// verdicts are `before`: the environment stops them, not the code.
void mark_newly_failing(const std::vector<storage::VerdictRow>& before,
                        std::vector<comparison::JudgedSeries>&);

}  // namespace torchwatch::nightly
