#include "torchwatch/torch/cpu_allocator.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/heap.hpp"

namespace torchwatch::runner {
namespace {

/// Higher than that of LibTorch's own allocator and of a planted build's, so that both are counted.
constexpr std::uint8_t kPriority = 100;

class CountingAllocator final : public c10::Allocator, public CpuAllocatorWatch {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) {}

  // Allocator::allocate was const in older LibTorch and is not in newer: one of the two overrides.
  // NOLINTNEXTLINE(modernize-use-override)
  c10::DataPtr allocate(std::size_t bytes) { return counted(bytes); }
  // NOLINTNEXTLINE(modernize-use-override)
  c10::DataPtr allocate(std::size_t bytes) const {
    return const_cast<CountingAllocator*>(this)->counted(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
  }

  std::int64_t live_bytes() const override {
    const std::scoped_lock lock(mutex_);
    return live_;
  }
  std::int64_t live_heap_bytes() const override {
    const std::scoped_lock lock(mutex_);
    return live_heap_;
  }
  std::int64_t peak_bytes() const override {
    const std::scoped_lock lock(mutex_);
    return peak_;
  }
  void reset_peak() override {
    const std::scoped_lock lock(mutex_);
    peak_ = live_;
  }
  void ask_owner(int (*owner)()) override {
    const std::scoped_lock lock(mutex_);
    owner_ = owner;
    if (owner == nullptr) return;
    owned_.clear();
    for (auto& [data, block] : blocks_) block.owner.reset();
  }
  std::map<int, Owned> owned() const override {
    const std::scoped_lock lock(mutex_);
    return owned_;
  }

 private:
  struct Block {
    std::int64_t bytes = 0;
    std::optional<int> owner;  ///< empty: given out while none was asked
  };

  // raw_allocate demands a bare pointer (context == data), so the size of a block is in a table
  // and not in a context.
  c10::DataPtr counted(std::size_t bytes) {
    void* data = inner_->raw_allocate(bytes);
    if (data != nullptr) note(data, static_cast<std::int64_t>(bytes));
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }

  void note(void* data, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    auto& block = blocks_[data] = {.bytes = bytes, .owner = std::nullopt};
    live_ += bytes;
    live_heap_ += heap_bytes_of_block(bytes);
    peak_ = std::max(peak_, live_);
    if (owner_ == nullptr) return;
    block.owner = owner_();
    auto& owned = owned_[*block.owner];
    owned.allocated += bytes;
    owned.live += bytes;
  }

  static void release(void* data);

  void forget(void* data) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(data);
    if (found == blocks_.end()) return;  // given out before the watch began
    const auto& block = found->second;
    live_ -= block.bytes;
    live_heap_ -= heap_bytes_of_block(block.bytes);
    if (block.owner) owned_[*block.owner].live -= block.bytes;
    blocks_.erase(found);
  }

  c10::Allocator* inner_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  int (*owner_)() = nullptr;
  std::map<int, Owned> owned_;
  std::int64_t live_ = 0;
  std::int64_t live_heap_ = 0;
  std::int64_t peak_ = 0;
};

/// Never destroyed: tensors with static lifetime are released after main.
CountingAllocator& instance() {
  static auto* allocator = new CountingAllocator(c10::GetCPUAllocator());
  return *allocator;
}

void CountingAllocator::release(void* data) {
  if (data == nullptr) return;
  auto& self = instance();
  self.forget(data);
  self.inner_->raw_deallocate(data);
}

}  // namespace

CpuAllocatorWatch& CpuAllocatorWatch::install() {
  auto& allocator = instance();
  c10::SetCPUAllocator(&allocator, kPriority);
  return allocator;
}

}  // namespace torchwatch::runner
