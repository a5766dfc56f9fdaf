#include "torchwatch/platform/clock.hpp"

#include <catch2/catch.hpp>

#include "fake_clock.hpp"

using namespace torchwatch;

TEST_CASE("a moment is written in UTC, to the second, also before the epoch") {
  CHECK(platform::iso_utc(0) == "1970-01-01T00:00:00Z");
  CHECK(platform::iso_utc(1'786'849'445'999) == "2026-08-16T03:04:05Z");
  CHECK(platform::iso_utc(-1) == "1969-12-31T23:59:59Z");
}

TEST_CASE("a moment is read as it was written, and nothing else is") {
  CHECK(platform::parse_iso_utc("2026-08-16T03:04:05Z") == 1'786'849'445'000);
  for (const auto* text : {"", "2026-08-16", "2026-08-16T03:04:05Z?", "yesterday"}) {
    CHECK_FALSE(platform::parse_iso_utc(text));
  }
}

TEST_CASE("people see the date and the minute, and nothing for what never happened") {
  CHECK(platform::date_and_minute(1'786'849'445'999) == "2026-08-16 03:04");
  CHECK(platform::date_and_minute(0).empty());
}

TEST_CASE("monotonic time does not go back") {
  const platform::SystemClock clock;
  const auto before = clock.monotonic_now();
  CHECK(clock.monotonic_now() >= before);
}

TEST_CASE("the fake clock's monotonic time ignores a step of its wall clock") {
  test::FakeClock clock;
  const auto wall = clock.wall_now();
  const auto monotonic = clock.monotonic_now();
  clock.step_wall(std::chrono::hours(-1));
  CHECK(clock.wall_now() == wall - 3'600'000);
  CHECK(clock.monotonic_now() == monotonic);
  clock.advance(std::chrono::seconds(2));
  CHECK(clock.monotonic_now() == monotonic + std::chrono::seconds(2));
}
