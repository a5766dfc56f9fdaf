#pragma once

#include <cstdint>

namespace torchwatch::runner {

/// Counts exactly, to the byte, what LibTorch's CPU allocator has given out and not got back. What
/// oneDNN and malloc hold beside it is not seen. Thread-safe. Costs a lock and a table entry for
/// each allocation, so it is never used while time is measured.
class CpuAllocatorWatch {
 public:
  /// Puts the watch between LibTorch and its allocator, for the rest of the process: LibTorch wants
  /// an allocator to live for ever. What was allocated before is not counted, nor is its release.
  static CpuAllocatorWatch& install();

  virtual std::int64_t live_bytes() const = 0;
  virtual std::int64_t live_heap_bytes() const = 0;  ///< the most they take of the heap
  virtual std::int64_t peak_bytes() const = 0;       ///< highest live_bytes since reset_peak
  virtual void reset_peak() = 0;

 protected:
  ~CpuAllocatorWatch() = default;
};

}  // namespace torchwatch::runner
