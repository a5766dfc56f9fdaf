#include "torchwatch/values/units.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::config;
using namespace std::chrono_literals;

TEST_CASE("a duration is a whole number and one unit") {
  CHECK(parse_duration("400d") == 400 * 24h);
  CHECK(parse_duration("4h") == 4h);
  CHECK(parse_duration("30m") == 30min);
  CHECK(parse_duration("90s") == 90s);
  CHECK(parse_duration("500ms") == 500ms);
  CHECK(parse_duration("4 h") == 4h);
}

TEST_CASE("anything else is not a duration") {
  for (const auto* text : {"", "4", "h", "4  h", "4 ", "-4h", "+4h", "1.5h", "4h30m", "4H", "4D",
                           " 4h", "99999999999999999h", "99999999999999999999s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("a size is whole bytes or has a binary or a decimal unit") {
  CHECK(parse_size("40GiB") == std::int64_t{40} << 30);
  CHECK(parse_size("512MiB") == std::int64_t{512} << 20);
  CHECK(parse_size("1KiB") == 1024);
  CHECK(parse_size("17") == 17);
  CHECK(parse_size("40 GB") == 40'000'000'000);
  CHECK(parse_size("512MB") == 512'000'000);
  CHECK(parse_size("1kB") == 1000);
  for (const auto* text : {"", "GiB", "1.5GiB", "-1", "17 ", "1G", "9999999999TiB"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).has_value());
  }
}

TEST_CASE("what is formatted parses back to itself") {
  for (const auto duration : {0ms, 1ms, 999ms, 1000ms, 90000ms, 3600000ms, 5400000ms}) {
    CHECK(parse_duration(format_duration(duration)) == duration);
  }
  for (const std::int64_t bytes :
       {0L, 1L, 1023L, 1024L, 1L << 20, 3L << 29, 1L << 40, 1000L, 40'000'000'000L}) {
    CHECK(parse_size(format_size(bytes)) == bytes);
  }
  CHECK(format_duration(5400000ms) == "90m");
  CHECK(format_size(3L << 29) == "1536MiB");
  CHECK(format_size(40'000'000'000) == "40GB");
}
