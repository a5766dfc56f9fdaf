#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "torchwatch/detect/time_verdict.hpp"

using namespace torchwatch;
using namespace torchwatch::detect;

TEST_CASE("fewer than two pairs say nothing, whatever their size") {
  CHECK(screen({}, Settings{}).step == ScreenStep::measure_more);
  CHECK(screen(std::vector{0.0}, Settings{}).step == ScreenStep::measure_more);
  const auto decision = screen(std::vector{2.0}, Settings{});
  CHECK(decision.step == ScreenStep::measure_more);
  CHECK(decision.pairs_next == 2);
}

TEST_CASE("two quiet pairs end a healthy series") {
  const auto decision = screen(std::vector{0.004, -0.003}, Settings{});
  CHECK(decision.step == ScreenStep::unchanged);
  CHECK(decision.reason == "+0.1 % [-7.4, +8.1] at 99 %, 2 pairs");
}

TEST_CASE("two pairs never make a suspect") {
  CHECK(screen(std::vector{0.5, 0.5}, Settings{}).step == ScreenStep::measure_more);
}

TEST_CASE("a clear change is suspected after four pairs, for the worse and for the better") {
  CHECK(screen(std::vector{0.14, 0.15, 0.13, 0.14}, Settings{}).step == ScreenStep::suspect);
  CHECK(screen(std::vector{-0.14, -0.15, -0.13, -0.14}, Settings{}).step == ScreenStep::suspect);
}

TEST_CASE("one disturbed pair neither ends a series nor makes it a suspect") {
  CHECK(screen(std::vector{0.0, 0.3}, Settings{}).step == ScreenStep::measure_more);
  CHECK(screen(std::vector{0.0, 0.01, 0.3, -0.01}, Settings{}).step != ScreenStep::suspect);
}

TEST_CASE("a series that is too noisy states the least change it would have shown") {
  std::vector<double> log_ratios;
  for (int i = 0; i < 24; ++i) log_ratios.push_back((i % 2 == 0 ? 0.4 : -0.4) + 0.001 * i);
  const auto decision = screen(log_ratios, Settings{});
  CHECK(decision.step == ScreenStep::too_noisy);
  CHECK(decision.detectable > 0.07);
  CHECK(decision.reason.find("a change from +") != std::string::npos);
}

TEST_CASE("screening always ends, and says the same of the mirrored pairs") {
  REQUIRE(rc::check([](const std::vector<int>& drawn) {
    std::vector<double> log_ratios;
    for (const int value : drawn) log_ratios.push_back(value % 300 / 1000.0);
    const auto decision = screen(log_ratios, Settings{});
    const auto pairs = static_cast<int>(log_ratios.size());
    if (decision.step == ScreenStep::measure_more) {
      RC_ASSERT(decision.pairs_next > pairs);
      RC_ASSERT(decision.pairs_next <= Settings{}.screen_pairs_max);
    } else {
      RC_ASSERT(pairs >= 2);
    }
    for (double& value : log_ratios) value = -value;
    RC_ASSERT(screen(log_ratios, Settings{}).step == decision.step);
  }));
}

TEST_CASE("what screening has decided stands, whatever pairs come after") {
  const auto unchanged = screen(std::vector{0.004, -0.003, 0.3, 0.3, 0.3, 0.3}, Settings{});
  CHECK(unchanged.step == ScreenStep::unchanged);
  CHECK(unchanged.estimate.pairs == 2);
  const auto suspect = screen(std::vector{0.14, 0.15, 0.13, 0.14, 0.0, 0.0, 0.0, 0.0}, Settings{});
  CHECK(suspect.step == ScreenStep::suspect);
  CHECK(suspect.estimate.pairs == 4);
}

TEST_CASE("a pair that is not a number ends screening instead of measuring for ever") {
  const double nan = std::nan("");
  CHECK(screen(std::vector{0.1, nan}, Settings{}).step == ScreenStep::too_noisy);
  CHECK(screen(std::vector{HUGE_VAL}, Settings{}).step == ScreenStep::too_noisy);
  const auto decision = confirm(std::vector{0.1, -HUGE_VAL}, Settings{});
  CHECK_FALSE(decision.measure_more);
  CHECK(decision.verdict == Verdict::inconclusive);
  CHECK(decision.reason == "a run's value is zero, negative or not a number");
}
