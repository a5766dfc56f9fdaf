#include "activity_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

namespace torchwatch::activity {
namespace {

constexpr std::size_t kReady = 8;

/// Returns a buffer that is zeroed, so that no page is mapped while something is measured and CUPTI
/// need not zero it on the workload's thread. Null if memory is out.
BufferMemory new_buffer() {
  return BufferMemory(new (std::nothrow) BufferMemory::element_type());
}

/// A record begins with its kind, which is not 0. CUPTI may be writing at the same time.
bool holds_records(const BufferMemory& buffer) {
  auto& kind = *reinterpret_cast<std::uint32_t*>(buffer->data());
  return std::atomic_ref(kind).load(std::memory_order_acquire) != 0;
}

}  // namespace

ActivityBuffers& ActivityBuffers::instance() {
  static auto* buffers = new ActivityBuffers();
  return *buffers;
}

void ActivityBuffers::begin(std::size_t most) {
  {
    const std::scoped_lock lock(mutex_);
    most_ = most;
    returned_.clear();
    std::ranges::move(out_, std::back_inserter(left_behind_));
    out_.clear();
  }
  make_ready();
}

void ActivityBuffers::make_ready() {
  const std::scoped_lock lock(mutex_);
  while (ready_.size() < std::min(kReady, most_)) {
    auto buffer = new_buffer();
    if (!buffer) return;
    ready_.push_back(std::move(buffer));
  }
}

std::uint8_t* ActivityBuffers::hand_out() noexcept {
  const std::scoped_lock lock(mutex_);
  if (out_.size() + returned_.size() >= most_) return nullptr;
  if (ready_.empty()) ready_.push_back(new_buffer());
  auto buffer = std::move(ready_.back());
  ready_.pop_back();
  if (!buffer) return nullptr;
  out_.push_back(std::move(buffer));
  return out_.back()->data();
}

void ActivityBuffers::take_back(const std::uint8_t* memory, std::size_t valid_bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(
      out_, [memory](const BufferMemory& each) { return each->data() == memory; });
  if (found == out_.end()) return;
  if (valid_bytes > 0)
    returned_.push_back({std::move(*found), std::min(valid_bytes, kBufferBytes)});
  out_.erase(found);
  came_back_.notify_all();
}

std::vector<ReturnedBuffer> ActivityBuffers::returned() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(returned_, {});
}

std::int64_t ActivityBuffers::wait_for_records(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  came_back_.wait_for(lock, limit, [this] { return out_with_records() == 0; });
  return out_with_records();
}

std::int64_t ActivityBuffers::out_with_records() const {
  return std::ranges::count_if(out_, holds_records);
}

}  // namespace torchwatch::activity
