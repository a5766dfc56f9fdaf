#pragma once

#include <vector>

#include "torchwatch/evidence/context.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::evidence {

/// Returns the runs of a benchmark in a comparison that ended well, in the order in which they
/// began, without their samples. Errors: of storage.
Result<std::vector<storage::RunDetail>> measured_runs(const Context&, storage::Id comparison,
                                                      const Benchmark&, Pass);

}  // namespace torchwatch::evidence
