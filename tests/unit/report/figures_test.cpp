#include <catch2/catch.hpp>
#include <limits>

#include "torchwatch/report/issue.hpp"

using namespace torchwatch;
using namespace torchwatch::report;

namespace {
EffectFacts timed(double ratio, double low, double high) {
  EffectFacts effect;
  effect.ratio = ratio;
  effect.interval_low = low;
  effect.interval_high = high;
  return effect;
}
}  // namespace

TEST_CASE("a value is written in the unit that a person would choose") {
  CHECK(human_value(Metric::time, 870) == "870 ns");
  CHECK(human_value(Metric::time, 2.104e6) == "2.104 ms");
  CHECK(human_value(Metric::device_time, 3.5e9) == "3.5 s");
  CHECK(human_value(Metric::cpu_peak, 512.25 * 1048576) == "512.2 MiB");
  CHECK(human_value(Metric::leak_growth, 4096) == "4,096 bytes/iteration");
  CHECK(human_value(Metric::leak_retained, 1234567890) == "1,234,567,890 bytes");
}

TEST_CASE("an effect is written with its interval, rounded outwards") {
  CHECK(human_effect(timed(1.152, 1.1312, 1.1738)) == "+15.2 % [+13.1, +17.4]");
  CHECK(human_effect(timed(1.0704, 1.06999, 1.0711)) == "+7.0 % [+6.9, +7.2]");
  CHECK(human_effect(timed(0.97, 0.9512, 0.9888)) == "-3.0 % [-4.9, -1.1]");
  CHECK(human_effect(timed(6.8, 6.712, 6.881)) == "x6.80 [x6.71, x6.89]");
}

TEST_CASE("an interval that is not known is not invented") {
  CHECK(human_effect(timed(1.2, 0, std::numeric_limits<double>::infinity())) ==
        "+20.0 % (interval unknown: too few runs)");
}

TEST_CASE("a leak is written in whole bytes") {
  EffectFacts effect;
  effect.target.metric = Metric::leak_growth;
  effect.baseline_value = 0;
  effect.candidate_value = 4096;
  CHECK(human_effect(effect) == "+4,096 bytes/iteration");
}
