#include "torchwatch/canvas/strip.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::drawing;

TEST_CASE("a strip has a block a value, from the least to the greatest") {
  CHECK(strip({}).empty());
  CHECK(strip({1, 1, 1}) == "▁▁▁");
  CHECK(strip({1, 2, 8}) == "▁▂█");
}

TEST_CASE("a distribution has a block a column, and leaves out what lies outside") {
  CHECK(distribution({10, 10, 19, 99}, 10, 20, 3) == "█ ▅");
  CHECK(distribution({}, 10, 20, 3) == "   ");
  CHECK(distribution({20}, 10, 20, 2) == " █");
}

TEST_CASE("strips on one scale can be compared, and many values become the means of neighbours") {
  CHECK(strip({1, 2}, 0, 8) == "▂▃");
  CHECK(thinned({1, 2}, 3) == std::vector<double>{1, 2});
  CHECK(thinned({1, 3, 5, 7, 9}, 2) == std::vector<double>{2, 7});
}
