#include "signed_rank.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace torchwatch::detect;

namespace {

/// Returns P(W <= w) by trying every choice of signs.
double brute_force_chance(int pairs, int w) {
  int hits = 0;
  for (unsigned signs = 0; signs < (1U << pairs); ++signs) {
    int sum = 0;
    for (int rank = 1; rank <= pairs; ++rank) {
      if ((signs >> (rank - 1)) & 1U) sum += rank;
    }
    hits += sum <= w ? 1 : 0;
  }
  return hits / std::pow(2.0, pairs);
}

/// Returns the signed-rank statistic of differences about a supposed centre.
int statistic(std::vector<double> differences, double centre) {
  for (double& difference : differences) difference -= centre;
  std::sort(differences.begin(), differences.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  int sum = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (differences[i] > 0) sum += static_cast<int>(i) + 1;
  }
  return sum;
}

}  // namespace

TEST_CASE("the cut is the greatest that enumeration of all signs allows") {
  for (int pairs = 1; pairs <= 12; ++pairs) {
    for (const double tail : {0.0003, 0.001, 0.005, 0.02, 0.05, 0.2}) {
      CAPTURE(pairs, tail);
      const auto cut = signed_rank_cut(pairs, tail);
      if (cut) {
        CHECK(brute_force_chance(pairs, *cut) <= tail);
        CHECK(brute_force_chance(pairs, *cut + 1) > tail);
      } else {
        CHECK(brute_force_chance(pairs, 0) > tail);
      }
    }
  }
}

TEST_CASE("the interval holds exactly the centres that the signed-rank test does not reject") {
  std::mt19937_64 random(20260101);
  std::normal_distribution<double> noise(0.05, 0.1);
  for (int trial = 0; trial < 50; ++trial) {
    const int pairs = 5 + trial % 6;
    std::vector<double> differences(static_cast<std::size_t>(pairs));
    for (double& difference : differences) difference = noise(random);
    const double tail = 0.04;
    const auto bounds = rank_interval(walsh_averages(differences), pairs, tail);
    const double step = 1e-9;
    const int most = pairs * (pairs + 1) / 2;
    // Just outside: W+ (below the low end) and W- (above the high end) are too unlikely.
    CHECK(brute_force_chance(pairs, most - statistic(differences, bounds.low - step)) <= tail);
    CHECK(brute_force_chance(pairs, most - statistic(differences, bounds.low + step)) > tail);
    CHECK(brute_force_chance(pairs, statistic(differences, bounds.high + step)) <= tail);
    CHECK(brute_force_chance(pairs, statistic(differences, bounds.high - step)) > tail);
  }
}

TEST_CASE("the normal approximation joins on where the exact distribution ends") {
  for (const double tail : {0.0005, 0.005, 0.025}) {
    const int exact = signed_rank_cut(100, tail).value();
    const int approximate = signed_rank_cut(101, tail).value();
    CAPTURE(tail, exact, approximate);
    // One pair more moves the cut by roughly fifty ranks less some spread.
    CHECK(approximate > exact);
    CHECK(approximate < exact + 60);
  }
}

TEST_CASE("a tail of zero gives no cut and one above a half gives the middle") {
  CHECK_FALSE(signed_rank_cut(0, 0.1).has_value());
  CHECK_FALSE(signed_rank_cut(10, 0).has_value());
  CHECK_FALSE(signed_rank_cut(10, std::nan("")).has_value());
  CHECK(signed_rank_cut(10, 0.9) == signed_rank_cut(10, 0.5));
}
