#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace torchwatch::activity {

/// CUPTI advises 1 to 10 MB; 4 MiB is what Kineto takes.
inline constexpr std::size_t kBufferBytes = std::size_t{4} << 20U;
using BufferMemory = std::unique_ptr<std::array<std::uint8_t, kBufferBytes>>;

/// A buffer as CUPTI gave it back.
struct ReturnedBuffer {
  BufferMemory memory;
  std::size_t valid_bytes = 0;
};

/// The buffers that CUPTI writes records to. They go out and come back on any thread, also on
/// CUPTI's own. CUPTI owns a buffer from one callback to the other and may keep one for good
/// (pytorch#195471), so what is out is never freed, and neither is this object.
class ActivityBuffers {
 public:
  /// The process's: CUPTI's callbacks carry no pointer of ours.
  static ActivityBuffers& instance();

  /// Begins a trace, of which at most `most` buffers hold the records. What an earlier one has
  /// left, here or with CUPTI, is none of its.
  void begin(std::size_t most);
  /// Makes some buffers ready, so that a workload's thread need not.
  void make_ready();
  /// A zeroed, touched buffer of kBufferBytes; null where `most` are in use or there is no memory.
  std::uint8_t* hand_out() noexcept;
  /// Null, unknown and empty buffers are taken back in silence: they hold no record.
  void take_back(const std::uint8_t* memory, std::size_t valid_bytes) noexcept;
  /// What came back since, in no order.
  std::vector<ReturnedBuffer> returned();
  /// Waits until no buffer that is out holds a record, `limit` at most; how many still do.
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

}  // namespace torchwatch::activity
