#pragma once

#include <cstdint>
#include <vector>

namespace torchwatch::runner {

/// Bytes kept per iteration, from the live bytes after each of at least two blocks of 10 steady
/// iterations. A leak is stated only where the lowest value of every block is above the block
/// before and the Theil-Sen slope is at least 64 bytes; else 0. The slope is exact for an
/// allocation kept in each iteration (measurement.md 3.3). A leak rarer than one in 10 iterations
/// needs more of them.
std::int64_t leak_growth(const std::vector<std::int64_t>& live_bytes);

/// The same rule on what the heap holds beside LibTorch's allocator. Libraries
/// may still be filling caches of their own, so the slope must be at least 1 KiB.
std::int64_t heap_growth(const std::vector<std::int64_t>& heap_bytes);

}  // namespace torchwatch::runner
