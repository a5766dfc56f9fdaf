#include "torchwatch/platform/core_affinity.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "skipped.hpp"

using torchwatch::platform::highest_core;
using torchwatch::platform::OffMeasuredCore;

TEST_CASE("threads stay off the core of timed runs if they start while it is left to them") {
  const int measured = highest_core();
  REQUIRE(measured >= 0);
  if (std::thread::hardware_concurrency() < 2) {
    torchwatch::test::say_skipped("one core only");
    return;
  }
  std::optional<OffMeasuredCore> off(std::in_place);
  int inside = measured;
  std::thread started([&] { inside = highest_core(); });
  REQUIRE(highest_core() < measured);
  off.reset();
  started.join();
  REQUIRE(inside < measured);
  REQUIRE(highest_core() == measured);
}
