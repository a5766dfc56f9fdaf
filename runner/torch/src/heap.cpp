#include "torchwatch/torch/heap.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace torchwatch::runner {
namespace {

// glibc's constants with 64 bits: the size field before each block, the unit that blocks are
// rounded up to, the least block (a smaller rest of a larger block stays with it), the least
// threshold of a mapping.
constexpr std::int64_t kHeader = 8;
constexpr std::int64_t kUnit = 16;
constexpr std::int64_t kLeastBlock = 32;
constexpr std::int64_t kMappedFrom = 128 << 10;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kAlignment = 64;  // LibTorch's

// glibc keeps some freed blocks of each size up to this for the thread that freed them.
constexpr std::size_t kCachedMost = 1032;
constexpr std::size_t kCachedBlocks = 7;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// A thread's cache counts as in use and fills up over hundreds of iterations, which looks like a
/// leak of 100 to 400 bytes in each. Full at every reading, it is a constant.
[[maybe_unused]] void fill_thread_cache() {
  std::array<void* volatile, kCachedBlocks> blocks{};  // else the compiler sees no use of them
  for (std::size_t bytes = kLeastBlock - kHeader; bytes <= kCachedMost; bytes += kUnit) {
    for (auto& block : blocks) block = std::malloc(bytes);
    for (auto& block : blocks) std::free(block);
  }
}

}  // namespace

std::optional<std::int64_t> heap_bytes_in_use() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  fill_thread_cache();
  const auto heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
#else
  return {};
#endif
}

std::int64_t heap_bytes_of_block(std::int64_t bytes) {
  const auto block = std::max(rounded_up(bytes + kHeader, kUnit), kLeastBlock) + kLeastBlock;
  const auto asked_for = block + kAlignment + 2 * kHeader;
  return asked_for < kMappedFrom ? block : rounded_up(asked_for, kPage);
}

}  // namespace torchwatch::runner
