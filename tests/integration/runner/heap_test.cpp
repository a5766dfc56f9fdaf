#include "torchwatch/torch/heap.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

#include "skipped.hpp"

using namespace torchwatch::runner;

namespace {

constexpr std::size_t kBlocks = 30;
constexpr std::size_t kAlignment = 64;  // LibTorch's
// glibc does not cut off pieces below 32 bytes, so that a cached block may be one size larger.
constexpr std::int64_t kSlack = 4096;

using Block = std::unique_ptr<void, decltype(&std::free)>;

bool can_tell() {
  if (heap_bytes_in_use()) return true;
  torchwatch::test::say_skipped("this libc does not tell what its heap has given out");
  return false;
}

/// What `kBlocks` more blocks take of the heap.
std::int64_t taken_by_blocks(std::size_t bytes) {
  std::vector<Block> blocks;
  blocks.reserve(kBlocks);
  const auto before = heap_bytes_in_use().value();
  for (std::size_t i = 0; i < kBlocks; ++i) {
    void* block = nullptr;
    REQUIRE(posix_memalign(&block, kAlignment, bytes) == 0);
    blocks.emplace_back(block, &std::free);
  }
  return heap_bytes_in_use().value() - before;
}

}  // namespace

TEST_CASE("a block aligned as LibTorch's are takes no more of the heap than is reckoned") {
  if (!can_tell()) return;
  const auto size = GENERATE(1, 24, 25, 64, 1000, 4096, 100'000, 131'071, 131'072, 1 << 20,
                             8'519'680, 40'000'000);
  CAPTURE(size);
  const auto taken = taken_by_blocks(static_cast<std::size_t>(size));
  REQUIRE(taken <= static_cast<std::int64_t>(kBlocks) * heap_bytes_of_block(size) + kSlack);
  REQUIRE(taken >= static_cast<std::int64_t>(kBlocks) * size - kSlack);
}

TEST_CASE("freed blocks that glibc keeps for the thread are not growth of the heap") {
  if (!can_tell()) return;
  const auto before = heap_bytes_in_use().value();
  for (std::size_t bytes = 8; bytes < 2000; bytes += 8) taken_by_blocks(bytes);
  REQUIRE(std::abs(heap_bytes_in_use().value() - before) < kSlack);
}
