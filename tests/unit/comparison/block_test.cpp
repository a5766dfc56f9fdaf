#include <catch2/catch.hpp>
#include <cmath>

#include "torchwatch/comparison/schedule.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;

namespace {

Block block(int index) {
  return Block{Benchmark{"resnet18", {}, {}}, Pass::timing, Stage::confirm, index};
}

}  // namespace

TEST_CASE("blocks are A B B A and B A A B alternately") {
  const auto builds = [](int index) {
    std::string text;
    for (int i = 0; i < Block::kRuns; ++i) {
      text += block(index).side(i) == Side::baseline ? 'A' : 'B';
    }
    return text;
  };
  REQUIRE(builds(0) == "ABBA");
  REQUIRE(builds(1) == "BAAB");
  REQUIRE(builds(2) == "ABBA");
}

TEST_CASE("a slot names pass, benchmark, stage, block and position") {
  REQUIRE(block(3).slot(2) == "timing/resnet18 cpu-train/confirm/3/2");
}

TEST_CASE("pairs are neighbours in time, candidate over baseline in either order") {
  const auto first = log_ratios(block(0), {100, 110, 120, 100});
  REQUIRE(first[0] == Approx(std::log(1.10)));
  REQUIRE(first[1] == Approx(std::log(1.20)));
  const auto second = log_ratios(block(1), {110, 100, 100, 120});
  REQUIRE(second[0] == Approx(std::log(1.10)));
  REQUIRE(second[1] == Approx(std::log(1.20)));
}

TEST_CASE("a slot says the side and the stage of its run") {
  for (int index = 0; index < 3; ++index) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto place = parse_slot(block(index).slot(position));
      REQUIRE(place);
      CHECK(place->side == block(index).side(position));
      CHECK(place->stage == Stage::confirm);
    }
  }
}

TEST_CASE("the slots of other owners have no place in a block") {
  for (const auto* slot : {"", "run 1", "alone/timing/resnet18 cpu-train/3", "timing/a/screen/0/4",
                           "timing/a/screen/-1/0", "timing/a/other/0/0", "timing/a/screen/0/"}) {
    INFO(slot);
    CHECK_FALSE(parse_slot(slot));
  }
}
