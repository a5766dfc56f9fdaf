#pragma once

#include <functional>
#include <memory>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::runner {

using BuildWorkload = std::function<std::unique_ptr<models::Workload>()>;

/// Builds a workload, runs it, destroys it, and states into `result`: the highest live bytes of
/// each allocator over the level before construction (5 iterations after the warm-up, or as many as
/// are asked for if that is less), the highest resident bytes likewise, the growth over
/// `leak_iterations`, and what is retained at the end. Every figure of an allocator is exact.
/// Throws what the workload throws.
void watch_memory(const BuildWorkload& build, models::Device device,
                  const protocol::Request& request, RunResult& result);

}  // namespace torchwatch::runner
