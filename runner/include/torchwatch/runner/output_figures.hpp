#pragma once

#include <functional>
#include <vector>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::runner {

/// Whether outputs of the benchmark are compared between builds. Where numbers are rounded to few
/// bits on the way, the last place of one moves others by a whole step, so rounding alone changes
/// the outputs by per cents; where random numbers are drawn on the way, a build that draws others
/// changes them as well. Those benchmarks are named, by measurement (docs/results/outputs.md). With
/// autocast nothing is compared, as values are computed without it.
bool has_comparable_outputs(const Benchmark&);

/// Computes what a workload gives from weights and inputs that the formula fills, which are equal
/// in all builds (docs/measuring.md, "Values"): its outputs in evaluation mode and, in training,
/// the loss and the size of its gradients. Throws what LibTorch throws.
std::vector<OutputFigures> outputs_of(const models::Definition&, models::Setup);

/// Adds the outputs that `compute` returns to a result whose figures stand already. They stay where
/// it throws: the result has no outputs then, and says why.
void add_outputs(const std::function<std::vector<OutputFigures>()>& compute, RunResult&);

}  // namespace torchwatch::runner
