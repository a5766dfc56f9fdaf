#include "torchwatch/bisection/spec.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::bisection;

TEST_CASE("a leak is searched for from half its metric's floor on, whatever was kept before") {
  const detect::Settings settings;
  for (const double before : {0.0, 1e9}) {
    CHECK(minimum_effect(Metric::leak_growth, before, settings) == 32);
    CHECK(minimum_effect(Metric::heap_growth, before, settings) == 512);
    CHECK(minimum_effect(Metric::leak_retained, before, settings) == 32 << 10);
  }
}

TEST_CASE("a peak that is judged by the resident floor is searched for by it as well") {
  const detect::Settings settings;
  const double floor = static_cast<double>(settings.resident_floor_bytes);
  CHECK(minimum_effect(Metric::cpu_peak_resident, 0, settings) == floor / 2);
  CHECK(minimum_effect(Metric::device_peak_total, 0, settings) == floor / 2);
}
