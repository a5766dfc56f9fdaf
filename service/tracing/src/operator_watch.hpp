#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::tracing {

/// Has both builds of a comparison watched operator by operator for its incidents, in interleaved
/// pairs; those that were made stay. What cannot be watched is logged. Errors: those of
/// RunRecorder::run_block, of the builds' preparation.
Status watch_operators(comparison::Services&, const comparison::Comparison&,
                       const std::vector<storage::IncidentRow>&, std::stop_token stop);

}  // namespace torchwatch::tracing
