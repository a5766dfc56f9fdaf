#include "torchwatch/bisection/spec.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::bisection;

namespace {

double least_of(Metric metric, double before, const detect::Settings& settings,
                Precision precision = Precision::fp32) {
  Benchmark benchmark{"dlrm", {}, {}};
  benchmark.variant.precision = precision;
  return minimum_effect({benchmark, metric}, before, settings);
}

}  // namespace

TEST_CASE("outputs are searched for from half of what is tolerated of their type") {
  const detect::Settings settings;
  CHECK(least_of(Metric::output_difference, 0, settings) == 500'000);
  CHECK(least_of(Metric::output_difference, 0, settings, Precision::bf16) == 31'250'000);
}

TEST_CASE("a leak is searched for from half its metric's floor on, whatever was kept before") {
  const detect::Settings settings;
  for (const double before : {0.0, 1e9}) {
    CHECK(least_of(Metric::leak_growth, before, settings) == 32);
    CHECK(least_of(Metric::heap_growth, before, settings) == 512);
    CHECK(least_of(Metric::leak_retained, before, settings) == 32 << 10);
  }
}

TEST_CASE("a peak that is judged by the resident floor is searched for by it as well") {
  const detect::Settings settings;
  const double floor = static_cast<double>(settings.resident_floor_bytes);
  CHECK(least_of(Metric::cpu_peak_resident, 0, settings) == floor / 2);
  CHECK(least_of(Metric::device_peak_total, 0, settings) == floor / 2);
}
