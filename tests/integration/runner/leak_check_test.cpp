#include <algorithm>
#include <catch2/catch.hpp>

#include "torchwatch/runner/memory_pass.hpp"

using torchwatch::runner::heap_growth;
using torchwatch::runner::leak_growth;

namespace {

template <typename Level>
std::vector<std::int64_t> forty(Level level) {
  std::vector<std::int64_t> live;
  live.reserve(40);
  for (std::int64_t i = 0; i < 40; ++i) live.push_back(level(i));
  return live;
}

}  // namespace

TEST_CASE("a constant level is not a leak") {
  REQUIRE(leak_growth(forty([](auto) { return 1 << 20; })) == 0);
}

TEST_CASE("bytes kept in every iteration are reported exactly") {
  REQUIRE(leak_growth(forty([](auto i) { return 1000 + 4096 * i; })) == 4096);
}

TEST_CASE("a level that swings over a leak does not hide it") {
  const auto live = forty([](auto i) { return 4096 * i + (i % 2 == 0 ? 1'000'000 : 0); });
  REQUIRE(leak_growth(live) == 4096);
}

TEST_CASE("a single step up is not a leak") {
  REQUIRE(leak_growth(forty([](auto i) { return i < 25 ? 1000 : 500'000; })) == 0);
}

TEST_CASE("growth below 64 bytes an iteration is not stated") {
  REQUIRE(leak_growth(forty([](auto i) { return 63 * i; })) == 0);
  REQUIRE(leak_growth(forty([](auto i) { return 64 * i; })) == 64);
}

TEST_CASE("less than two blocks say nothing") {
  REQUIRE(leak_growth({}) == 0);
  REQUIRE(leak_growth({1, 5000, 10'000}) == 0);
}

TEST_CASE("growth of the heap below 1 KiB an iteration is not stated") {
  REQUIRE(heap_growth(forty([](auto i) { return 1023 * i; })) == 0);
  REQUIRE(heap_growth(forty([](auto i) { return 1024 * i; })) == 1024);
}

TEST_CASE("a cache that fills up and stays is not growth of the heap") {
  REQUIRE(heap_growth(forty([](auto i) { return std::min<std::int64_t>(i, 20) * 4096; })) == 0);
}
