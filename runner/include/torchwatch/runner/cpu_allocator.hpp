#pragma once

#include <cstdint>

namespace torchwatch::runner {

/// Counts the live bytes of LibTorch's CPU allocator exactly. Memory that oneDNN and malloc hold
/// outside it is not seen. Thread-safe. Costs a lock and a table entry per allocation, so it is
/// never used while time is measured.
class CpuAllocatorWatch {
 public:
  /// Puts the watch between LibTorch and its allocator for the rest of the process, as LibTorch
  /// needs an allocator to live for ever. Earlier allocations and their release are not counted.
  static CpuAllocatorWatch& install();

  virtual std::int64_t live_bytes() const = 0;
  virtual std::int64_t live_heap_bytes() const = 0;  ///< the most that they take of the heap
  virtual std::int64_t peak_bytes() const = 0;       ///< highest live_bytes since reset_peak
  virtual void reset_peak() = 0;

 protected:
  ~CpuAllocatorWatch() = default;
};

}  // namespace torchwatch::runner
