#include "natural_language/parts/random_blocks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace torchwatch::models;

namespace {

using Row = std::vector<std::int64_t>;

constexpr RandomBlocks::Shape kPaper{.blocks = 64, .reach = 16, .drawn = 3};

Row row_of(const std::vector<std::int64_t>& plan, std::size_t row) {
  const auto begin = plan.begin() + static_cast<std::ptrdiff_t>(row * kPaper.drawn);
  return {begin, begin + static_cast<std::ptrdiff_t>(kPaper.drawn)};
}

}  // namespace

TEST_CASE("random blocks are those that NumPy draws from the same seed") {
  RandomBlocks random(kPaper, 0);
  const auto first_head = random.draw_head(62);
  const auto second_head = random.draw_head(62);
  REQUIRE(first_head.size() == 62 * kPaper.drawn);
  CHECK(row_of(first_head, 0) == Row{9, 14, 7});
  CHECK(row_of(first_head, 2) == Row{10, 5, 14});
  CHECK(row_of(first_head, 14) == Row{2, 5, 6});
  CHECK(row_of(first_head, 61) == Row{6, 12, 5});
  CHECK(row_of(second_head, 0) == Row{6, 11, 10});
  CHECK(row_of(second_head, 61) == Row{6, 7, 10});
  CHECK(row_of(RandomBlocks(kPaper, 11).draw_head(62), 13) == Row{4, 1, 10});
}

TEST_CASE("a shorter text takes the first random blocks of the greatest one") {
  RandomBlocks whole(kPaper, 3);
  RandomBlocks part(kPaper, 3);
  for (int head = 0; head < 2; ++head) {
    auto expected = whole.draw_head(62);
    expected.resize(14 * kPaper.drawn);
    CHECK(part.draw_head(14) == expected);
  }
}

TEST_CASE("a row's random blocks are different ones, none of them next to it or at an end") {
  const auto plan = RandomBlocks(kPaper, 5).draw_head(60);
  for (std::size_t row = 0; row < 60; ++row) {
    auto blocks = row_of(plan, row);
    std::ranges::sort(blocks);
    CHECK(std::ranges::adjacent_find(blocks) == blocks.end());
    for (const auto block : blocks) {
      CHECK(block > 0);
      CHECK(block < kPaper.reach);
      CHECK(std::abs(block - static_cast<std::int64_t>(row + 1)) > 1);
    }
  }
}
