#include "torchwatch/detect/binomial_interval.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using torchwatch::detect::share_of;

TEST_CASE("the upper bound without a hit is 3 over the number of trials") {
  const auto share = share_of(0, 1'000'000);
  CHECK(share.rate == 0);
  CHECK(share.low == 0);
  CHECK(share.bound == Approx(1 - std::pow(0.05, 1e-6)));
  CHECK(share.high == Approx(1 - std::pow(0.025, 1e-6)));
}

TEST_CASE("an interval of a share is exact") {
  // For 1 of 2 the ends solve (1 - p)^2 = 1 - 0.025 and p^2 = 1 - 0.025.
  const auto share = share_of(1, 2);
  CHECK(share.rate == 0.5);
  CHECK(share.low == Approx(1 - std::sqrt(0.975)));
  CHECK(share.high == Approx(std::sqrt(0.975)));
}

TEST_CASE("nothing is known without trials") {
  const auto share = share_of(0, 0);
  CHECK(share.low == 0);
  CHECK(share.high == 1);
}
