#include <catch2/catch.hpp>

#include "torchwatch/evidence/work.hpp"

using namespace torchwatch;

TEST_CASE("fewer than three durations make no estimate") {
  CHECK_FALSE(evidence::estimate_of({}));
  CHECK_FALSE(evidence::estimate_of({60, 70}));
}

TEST_CASE("an estimate is the middle duration, and the one that nine of ten do not exceed") {
  const auto estimate = evidence::estimate_of({100, 10, 30, 50, 20, 40, 60, 90, 80, 70});
  REQUIRE(estimate);
  CHECK(estimate->likely == 50);
  CHECK(estimate->at_most == 90);
  CHECK(estimate->of == 10);
}

TEST_CASE("the most of few durations is the longest") {
  const auto estimate = evidence::estimate_of({30, 10, 20});
  REQUIRE(estimate);
  CHECK(estimate->likely == 20);
  CHECK(estimate->at_most == 30);
}

TEST_CASE("what is left of an estimate is never less than nothing") {
  const auto left = evidence::left_of({.likely = 50, .at_most = 90, .of = 10}, 60);
  CHECK(left.likely == 0);
  CHECK(left.at_most == 30);
  CHECK(left.of == 10);
}
