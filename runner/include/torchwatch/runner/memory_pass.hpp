#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/run_result.hpp"

namespace torchwatch::runner {

using BuildWorkload = std::function<std::unique_ptr<models::Workload>()>;

/// Builds a workload, runs it, destroys it, and writes into `result`: the highest live bytes of
/// each allocator above the level before construction (in 5 iterations after the warm-up, or fewer
/// if the request asks for fewer), the highest resident bytes likewise, the growth over
/// `leak_iterations`, and the bytes retained at the end. An allocator's figures are exact. Throws
/// what the workload throws.
void watch_memory(const BuildWorkload& build, models::Device device,
                  const protocol::Request& request, RunResult& result);

/// Bytes kept per iteration, from the live bytes after each iteration of at least two blocks of 10.
/// A leak is reported only if the lowest value of every block is above that of the block before and
/// the Theil-Sen slope is at least 64 bytes; else 0. The slope is exact for an allocation kept in
/// each iteration. A leak rarer than one in 10 iterations needs longer blocks.
std::int64_t leak_growth(const std::vector<std::int64_t>& live_bytes);

/// The same rule for the heap's bytes outside LibTorch's allocator. Libraries may still be filling
/// caches of their own, so the slope must be at least 1 KiB.
std::int64_t heap_growth(const std::vector<std::int64_t>& heap_bytes);

}  // namespace torchwatch::runner
