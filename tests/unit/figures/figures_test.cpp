#include "torchwatch/figures/figures.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch;

TEST_CASE("a value is written in the unit that a person would choose") {
  CHECK(figures::value(Metric::time, 870) == "870 ns");
  CHECK(figures::value(Metric::time, 2.104e6) == "2.104 ms");
  CHECK(figures::value(Metric::device_time, 3.5e9) == "3.5 s");
  CHECK(figures::value(Metric::first_iteration, 2.5e9) == "2.5 s");
  CHECK(figures::value(Metric::throughput, 333) == "0.333 items/s");
  CHECK(figures::value(Metric::throughput, 45'678'900) == "45,679 items/s");
  CHECK(figures::value(Metric::cpu_peak, 512.25 * 1048576) == "512.2 MiB");
  CHECK(figures::value(Metric::leak_growth, 4096) == "4,096 bytes/iteration");
  CHECK(figures::value(Metric::leak_retained, 1234567890) == "1,234,567,890 bytes");
}

TEST_CASE("a number has four digits, and no more than a person reads") {
  CHECK(figures::number(0.072134) == "0.07213");
  CHECK(figures::number(41.06) == "41.06");
  CHECK(figures::number(999.96) == "1,000");
  CHECK(figures::number(1329152.4) == "1,329,152");
  CHECK(figures::number(-1500) == "-1,500");
}

TEST_CASE("a size is written in the unit that a person would choose") {
  CHECK(figures::bytes(0) == "0 bytes");
  CHECK(figures::bytes(std::int64_t{61} << 20) == "61 MiB");
  CHECK(figures::bytes((std::int64_t{24} << 30) / 10) == "2.4 GiB");
  CHECK(figures::bytes(std::int64_t{12} << 40) == "12 TiB");
}

TEST_CASE("a ratio is printed as a signed percentage") {
  CHECK(figures::change(1.152) == "+15.2 %");
  CHECK(figures::change(0.9) == "-10.0 %");
  CHECK(figures::change(0.99999) == "+0.0 %");
  CHECK(figures::change(6.8) == "x6.80");
  CHECK(figures::interval(1.131, 1.174) == "[+13.1, +17.4]");
  CHECK(figures::interval(0, 1.1) == "");
}

TEST_CASE("an interval is rounded outwards") {
  CHECK(figures::interval(1.1312, 1.1738) == "[+13.1, +17.4]");
  CHECK(figures::interval(1.06999, 1.0711) == "[+6.9, +7.2]");
  CHECK(figures::interval(0.9512, 0.9888) == "[-4.9, -1.1]");
  CHECK(figures::interval(6.712, 6.881) == "[x6.71, x6.89]");
  CHECK(figures::interval_with_unit(1.1312, 1.1738) == "[+13.1, +17.4] %");
  CHECK(figures::interval_with_unit(2.5, 3.5) == "[+150.0 %, x3.50]");
}

TEST_CASE("an interval that is not known is not invented") {
  CHECK(figures::interval(0, std::numeric_limits<double>::infinity()) == "");
  CHECK(figures::interval_with_unit(1.2, 1.1) == "");
}

TEST_CASE("a spread is rounded up and a confidence down, never to certainty") {
  CHECK(figures::spread(0.0121) == "1.3 %");
  CHECK(figures::spread(-1) == "unknown");
  CHECK(figures::confidence(0.99) == "99 %");
  CHECK(figures::confidence(0.99739) == "99.7 %");
  CHECK(figures::confidence(1) == "more than 99.9 %");
  CHECK(figures::share(0.13911) == "13.9 %");
}

TEST_CASE("numbers of things are grouped and have their plural") {
  CHECK(figures::count(1, "commit") == "1 commit");
  CHECK(figures::count(1000, "run") == "1,000 runs");
  CHECK(figures::count(1, "nightly") == "1 nightly");
  CHECK(figures::count(2, "nightly") == "2 nightlies");
  CHECK(figures::count(2, "day") == "2 days");
  CHECK(figures::count(2, "series") == "2 series");
  CHECK(figures::grouped(-123456) == "-123,456");
  CHECK(figures::grouped(-123) == "-123");
  CHECK(figures::difference(Metric::leak_growth, 4096) == "+4,096 bytes/iteration");
}

TEST_CASE("a duration has two units, an estimate one and no more digits than it deserves") {
  CHECK(figures::duration(41.6) == "42 s");
  CHECK(figures::duration(664) == "11 min 4 s");
  CHECK(figures::duration(3720) == "1 h 2 min");
  CHECK(figures::age(5 * 3600 + 12 * 60) == "5 h 12 min ago");
  CHECK(figures::age(80 * 3600) == "3 days ago");
  CHECK(figures::age(-5) == "0 s ago");
  CHECK(figures::duration_range(0, 59) == "less than a minute");
  CHECK(figures::duration_range(181, 299) == "about 3 to 5 min");
  CHECK(figures::duration_range(120, 120) == "about 2 min");
  CHECK(figures::duration_range(4000, 9000) == "about 1 to 3 h");
}
