#pragma once

#include <cstdint>
#include <map>

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

  /// Bytes that were given out for one owner.
  struct Owned {
    std::int64_t allocated = 0;  ///< in all
    std::int64_t live = 0;       ///< of those, not given back
  };
  /// From now on asks whose the bytes of an allocation are, on the thread that allocates, and
  /// forgets who was asked before; null: asks no more. `owner` is any number, and must not
  /// allocate.
  virtual void ask_owner(int (*owner)()) = 0;
  /// What was given out since an owner is asked, by owner.
  virtual std::map<int, Owned> owned() const = 0;

 protected:
  ~CpuAllocatorWatch() = default;
};

}  // namespace torchwatch::runner
