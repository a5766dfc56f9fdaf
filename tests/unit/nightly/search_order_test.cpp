#include "torchwatch/nightly/search_order.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::nightly;

TEST_CASE("a leak is searched for from half its metric's floor on, whatever was kept before") {
  const detect::Settings settings;
  for (const double before : {0.0, 1e9}) {
    CHECK(minimum_effect(Metric::leak_growth, before, settings) == 32);
    CHECK(minimum_effect(Metric::heap_growth, before, settings) == 512);
    CHECK(minimum_effect(Metric::leak_retained, before, settings) == 32 << 10);
  }
}
