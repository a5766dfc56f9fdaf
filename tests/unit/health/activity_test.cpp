#include "torchwatch/health/activity.hpp"

#include <catch2/catch.hpp>

#include "fake_clock.hpp"

using namespace torchwatch;

TEST_CASE("what is done is the last step, since it began, of the comparison that is worked on") {
  test::FakeClock clock;
  health::Activity activity(clock);
  CHECK(activity.now().since == 0);
  activity.comparison_started(7);
  clock.advance(std::chrono::seconds(5));
  activity.step_started("measuring");
  const auto began = clock.wall_now();
  clock.advance(std::chrono::seconds(40));
  CHECK(activity.now().what == "measuring");
  CHECK(activity.now().comparison == 7);
  CHECK(activity.now().since == began);
  activity.comparison_ended();
  CHECK(activity.now().what.empty());
  CHECK_FALSE(activity.now().comparison);
}
