#include "torchwatch/bisect/posterior.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::bisect;

TEST_CASE("what is left of a search is the bits that its posterior lacks") {
  CHECK(commits_left(std::vector<double>(64, 1.0 / 64)) == 6);
  CHECK(commits_left({0.5, 0.25, 0.25, 0}) == 2);
  CHECK(commits_left({0.001, 0.998, 0.001}) == 0);
  CHECK(commits_left({0, 0, 0}) == 0);
}

TEST_CASE("the commits that hold the culprit are the fewest that do") {
  CHECK(commits_holding(std::vector<double>(100, 0.01), 0.945) == 95);
  CHECK(commits_holding({0.2, 0.7, 0.1}, 0.65) == 1);
  CHECK(commits_holding({0.2, 0.7, 0.1}, 0.85) == 2);
  CHECK(commits_holding({0, 0}, 0.95) == 0);
}
