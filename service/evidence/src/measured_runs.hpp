#pragma once

#include <vector>

#include "torchwatch/evidence/context.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::evidence {

/// Returns the runs of a benchmark for an owner that ended well, in the order in which they
/// began, without their samples. Errors: of storage.
Result<std::vector<storage::RunDetail>> measured_runs(const Context&, storage::Owner,
                                                      const Benchmark&, Pass);

/// The samples that a metric's values are made of; empty where a run has its value alone.
std::string_view kind_of(Metric);

}  // namespace torchwatch::evidence
