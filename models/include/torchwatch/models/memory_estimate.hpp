#pragma once

#include <cstdint>
#include <optional>

#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {

/// Bytes at the peak of an iteration, over what the process had before the workload was built.
struct MemoryEstimate {
  std::int64_t allocated = 0;  ///< given out by LibTorch's allocator
  std::int64_t resident = 0;   ///< on a CPU: with what its libraries hold beside the allocator
};

/// What the workload is expected to need for a setup (batch 0: the default), from figures measured
/// on a CPU with one thread (README.md, "Memory"). None where nothing was measured: other
/// precisions, and the small preset, which is made to fit.
std::optional<MemoryEstimate> estimate_memory(const Entry&, const Setup&);

}  // namespace torchwatch::models
