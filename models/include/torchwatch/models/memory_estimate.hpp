#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {

/// Bytes at the peak of an iteration, above the level before the workload was built.
struct MemoryEstimate {
  std::int64_t allocated = 0;  ///< given out by LibTorch's allocator
  std::int64_t resident = 0;   ///< on a CPU: also what its libraries hold outside the allocator
};

/// The memory that the workload is expected to need for a setup (batch 0: the default), from
/// figures measured on a CPU with one thread (docs/measuring.md, "Memory estimates"). Empty where
/// nothing was measured: other precisions, and the small preset, which is made to fit.
std::optional<MemoryEstimate> estimate_memory(const Entry&, const Setup&);

/// Whether a workload ended for want of memory.
bool is_out_of_memory(const std::exception&);

}  // namespace torchwatch::models
