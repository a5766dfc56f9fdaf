#include "torchwatch/detect/estimate.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace torchwatch::detect;

namespace {

std::vector<double> log_ratios_from(const std::vector<int>& per_mille) {
  std::vector<double> log_ratios;
  for (const int value : per_mille) log_ratios.push_back(value % 1000 / 1000.0);
  return log_ratios;
}

}  // namespace

TEST_CASE("a block A B B A gives the pairs A1 B1 and A2 B2") {
  const std::vector<double> values{100, 110, 220, 200, 50, 60};
  const auto log_ratios = abba_log_ratios(values);
  REQUIRE(log_ratios.size() == 3);
  CHECK(log_ratios[0] == Approx(std::log(1.1)));
  CHECK(log_ratios[1] == Approx(std::log(1.1)));
  CHECK(log_ratios[2] == Approx(std::log(1.2)));
}

TEST_CASE("a steady drift cancels within a block") {
  const std::vector<double> values{std::exp(0.01), std::exp(0.02), std::exp(0.03), std::exp(0.04)};
  const auto log_ratios = abba_log_ratios(values);
  CHECK(log_ratios[0] + log_ratios[1] == Approx(0).margin(1e-12));
}

TEST_CASE("a run without a value takes only its own pair with it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, 0.0, -5.0}) {
    const std::vector<double> values{100, bad, 120, 100};
    const auto log_ratios = abba_log_ratios(values);
    REQUIRE(log_ratios.size() == 1);
    CHECK(log_ratios[0] == Approx(std::log(1.2)));
  }
  CHECK(abba_log_ratios(std::vector<double>{100}).empty());
  CHECK(abba_log_ratios({}).empty());
}

TEST_CASE("too few pairs for the confidence give no interval") {
  // Both tails together: 2 * 2^-7 = 1.6 % > 1 %, 2 * 2^-8 = 0.8 % <= 1 %.
  const std::vector<double> seven(7, 0.1);
  CHECK(estimate(seven, 0.99).low == 0);
  CHECK(estimate(seven, 0.99).high == std::numeric_limits<double>::infinity());
  const std::vector<double> eight(8, 0.1);
  CHECK(estimate(eight, 0.99).low == Approx(std::exp(0.1)));
  CHECK(estimate(eight, 0.99).high == Approx(std::exp(0.1)));
  CHECK(estimate({}, 0.99).pairs == 0);
}

TEST_CASE("one wild pair hardly moves the estimate") {
  std::vector<double> log_ratios(11, 0.1);
  log_ratios.push_back(5);
  CHECK(estimate(log_ratios, 0.95).ratio == Approx(std::exp(0.1)));
  CHECK(estimate(log_ratios, 0.95).pair_sd == 0);
}

TEST_CASE("the estimate lies in its interval, and more confidence makes it wider") {
  REQUIRE(rc::check([](const std::vector<int>& drawn) {
    const auto log_ratios = log_ratios_from(drawn);
    const auto narrow = estimate(log_ratios, 0.9);
    const auto wide = estimate(log_ratios, 0.99);
    RC_ASSERT(narrow.low <= narrow.ratio && narrow.ratio <= narrow.high);
    RC_ASSERT(wide.low <= narrow.low && narrow.high <= wide.high);
  }));
}

TEST_CASE("mirroring the pairs mirrors the estimate, shifting them shifts it") {
  REQUIRE(rc::check([](const std::vector<int>& drawn) {
    auto log_ratios = log_ratios_from(drawn);
    RC_PRE(!log_ratios.empty());
    const auto original = estimate(log_ratios, 0.99);
    for (double& value : log_ratios) value = -value;
    const auto mirrored = estimate(log_ratios, 0.99);
    RC_ASSERT(std::abs(std::log(original.ratio) + std::log(mirrored.ratio)) < 1e-9);
    for (double& value : log_ratios) value = 0.3 - value;
    const auto shifted = estimate(log_ratios, 0.99);
    RC_ASSERT(std::abs(std::log(shifted.ratio) - std::log(original.ratio) - 0.3) < 1e-9);
    RC_ASSERT(std::abs(shifted.pair_sd - original.pair_sd) < 1e-9);
  }));
}

TEST_CASE("raising any pair never lowers the estimate or either bound") {
  REQUIRE(rc::check([](const std::vector<int>& drawn, std::size_t which) {
    auto log_ratios = log_ratios_from(drawn);
    RC_PRE(!log_ratios.empty());
    const auto before = estimate(log_ratios, 0.95);
    log_ratios[which % log_ratios.size()] += 0.2;
    const auto after = estimate(log_ratios, 0.95);
    RC_ASSERT(after.ratio >= before.ratio - 1e-12);
    RC_ASSERT(after.low >= before.low - 1e-12);
    RC_ASSERT(after.high >= before.high - 1e-12);
  }));
}
