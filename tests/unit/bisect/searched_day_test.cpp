#include "searched_day.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace experiments = torchwatch::experiments;

namespace {

/// Hardly any noise.
const std::vector<double> kQuiet{0.001, -0.002, 0.0005, 0.0015, -0.001, 0.002, -0.0005};

experiments::DayResult search_of(const experiments::Day& day, std::size_t builders) {
  experiments::DayRuns runs(day, kQuiet, 0);
  return experiments::search_day({}, {.noise_sd = 0.002}, builders, runs, [&](const auto& measure) {
    return experiments::carry_out(measure, runs);
  });
}

}  // namespace

TEST_CASE("an experiment's search names the culprit, and several builders need fewer rounds") {
  for (std::size_t culprit = 0; culprit < 16; ++culprit) {
    CAPTURE(culprit);
    const experiments::Day day{16, {{culprit, std::log(1.10)}}, {}};
    const auto by_one = search_of(day, 1);
    const auto by_three = search_of(day, 3);
    CHECK(by_one.blamed == std::vector<std::vector<std::size_t>>{{culprit}});
    CHECK(by_three.blamed == by_one.blamed);
    CHECK(by_one.rounds == by_one.builds);
    CHECK(by_three.rounds < by_one.rounds);
  }
}
