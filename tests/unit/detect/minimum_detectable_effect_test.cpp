#include "torchwatch/detect/minimum_detectable_effect.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

using namespace torchwatch::detect;

namespace {

std::vector<double> pairs_with_spread(double sd) {
  std::mt19937_64 random(5);
  std::normal_distribution<> noise(0, sd);
  std::vector<double> pairs(24);
  for (double& each : pairs) each = noise(random);
  return pairs;
}

}  // namespace

TEST_CASE("a quiet series finds what is just above the gate, in few runs") {
  const Settings settings;
  const auto floor = estimate_minimum_detectable_effect(pairs_with_spread(0.004), settings);
  CHECK(floor.change > settings.gate);
  CHECK(floor.change < settings.threshold);
  CHECK(floor.runs_unchanged < 6);
  CHECK(floor.runs_changed >= 2 * (settings.confirm_pairs_min + settings.screen_pairs_min));
}

TEST_CASE("a noisier series finds less and costs more") {
  const auto quiet = estimate_minimum_detectable_effect(pairs_with_spread(0.02), {});
  const auto noisy = estimate_minimum_detectable_effect(pairs_with_spread(0.10), {});
  CHECK(noisy.change > 1.5 * quiet.change);
  CHECK(noisy.runs_unchanged > 2 * quiet.runs_unchanged);
}

TEST_CASE("the effect is infinite where a doubling is not found") {
  CHECK(std::isinf(estimate_minimum_detectable_effect(pairs_with_spread(1.5), {}).change));
}

TEST_CASE("the same pairs and seed give the same effect") {
  const auto pairs = pairs_with_spread(0.03);
  CHECK(estimate_minimum_detectable_effect(pairs, {}, 3).change ==
        estimate_minimum_detectable_effect(pairs, {}, 3).change);
}

TEST_CASE("what is predicted without a simulation is close to what a simulation finds") {
  for (const double spread : {0.004, 0.01, 0.02, 0.04, 0.07, 0.1}) {
    CAPTURE(spread);
    const auto pairs = pairs_with_spread(spread);
    const auto simulated = estimate_minimum_detectable_effect(pairs, {}).change;
    const double apart = spread < 0.05 ? 0.1 : 0.2;
    CHECK(predict_minimum_detectable_effect(pairs, {}) == Approx(simulated).epsilon(apart));
  }
}

TEST_CASE("with a smaller threshold a smaller effect is predicted") {
  Settings sharp;
  sharp.threshold = 0.03;
  sharp.gate = 0.026;
  const auto pairs = pairs_with_spread(0.01);
  CHECK(predict_minimum_detectable_effect(pairs, sharp) <
        predict_minimum_detectable_effect(pairs, {}));
}
