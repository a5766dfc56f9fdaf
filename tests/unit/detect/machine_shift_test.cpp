#include "torchwatch/detect/machine_shift.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace torchwatch::detect;

namespace {

/// Returns series that moved by this factor, each a little differently.
std::vector<double> moved(double factor, int series) {
  std::vector<double> log_ratios;
  for (int i = 0; i < series; ++i) {
    log_ratios.push_back(std::log(factor) + 0.002 * (i - series / 2));
  }
  return log_ratios;
}

}  // namespace

TEST_CASE("series that moved together either way are a shift of the machine") {
  for (const double factor : {1.3, 0.8}) {
    for (const int series : {2, 5, 12}) {
      INFO(factor << " in " << series);
      const auto shift = machine_shift(moved(factor, series), Settings{});
      REQUIRE(shift);
      CHECK(shift->ratio == Approx(factor).epsilon(0.02));
      CHECK(shift->pairs == series);
      CHECK(shift->low <= shift->ratio);
      CHECK(shift->high >= shift->ratio);
    }
  }
}

TEST_CASE("a machine that measures as before, or differs in one series alone, has not shifted") {
  CHECK_FALSE(machine_shift(moved(1.0, 12), Settings{}));
  CHECK_FALSE(machine_shift(moved(1.02, 12), Settings{}));
  CHECK_FALSE(machine_shift(moved(1.5, 1), Settings{}));
  CHECK_FALSE(machine_shift({}, Settings{}));
  auto one_of_many = moved(1.0, 12);
  one_of_many.front() = std::log(2.0);
  CHECK_FALSE(machine_shift(one_of_many, Settings{}));
}

TEST_CASE("a few series that disagree are not a shift") {
  const std::vector<double> apart{std::log(1.3), std::log(1.01), std::log(1.4)};
  CHECK_FALSE(machine_shift(apart, Settings{}));
}
