#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cupti_library.hpp"
#include "torchwatch/activity/trace.hpp"

namespace torchwatch::activity {

/// CUPTI's manual advises 1 to 10 MB; Kineto takes 4 MiB.
inline constexpr std::size_t kBufferBytes = std::size_t{4} << 20U;
using BufferMemory = std::unique_ptr<std::array<std::uint8_t, kBufferBytes>>;

/// A buffer as CUPTI gave it back.
struct ReturnedBuffer {
  BufferMemory memory;
  std::size_t valid_bytes = 0;
};

/// The buffers that CUPTI writes records to. They go out and come back on any thread, also on
/// CUPTI's own. CUPTI owns a buffer from one callback to the other and may keep one for good
/// (pytorch#195471), so buffers that are out are never freed, and neither is this object.
class ActivityBuffers {
 public:
  /// The only instance of the process, as CUPTI's callbacks carry no user pointer.
  static ActivityBuffers& instance();

  /// Begins a trace whose records fill at most `most` buffers. Buffers left by an earlier trace,
  /// here or with CUPTI, do not count.
  void begin(std::size_t most);
  /// Allocates some buffers in advance, so that a workload's thread need not.
  void make_ready();
  /// Returns a zeroed, touched buffer of kBufferBytes; null if `most` are in use or memory is out.
  std::uint8_t* hand_out() noexcept;
  /// Takes a buffer back. Ignores null, unknown and empty buffers: they hold no record.
  void take_back(const std::uint8_t* memory, std::size_t valid_bytes) noexcept;
  /// Returns the buffers that came back since the last call, in no order.
  std::vector<ReturnedBuffer> returned();
  /// Waits at most `limit` until no buffer that is out holds a record; returns how many still do.
  std::int64_t wait_for_records(std::chrono::milliseconds limit);

 private:
  ActivityBuffers() = default;
  std::int64_t out_with_records() const;

  std::mutex mutex_;
  std::condition_variable came_back_;
  std::vector<BufferMemory> ready_;
  std::vector<BufferMemory> out_;
  std::vector<ReturnedBuffer> returned_;
  std::vector<BufferMemory> left_behind_;  ///< by an earlier trace, with CUPTI
  std::size_t most_ = 0;
};

/// Adds the records in the buffers to `recording`. Skips records of kinds that do not describe a
/// device's time; counts a buffer that cannot be read to its end as unreadable.
void read_records(const CuptiLibrary& library, const std::vector<ReturnedBuffer>& buffers,
                  Recording& recording);

}  // namespace torchwatch::activity
