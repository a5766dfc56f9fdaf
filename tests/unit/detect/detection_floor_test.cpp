#include "torchwatch/detect/detection_floor.hpp"

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
  const auto floor = foretell_floor(pairs_with_spread(0.004), settings);
  CHECK(floor.change > settings.gate);
  CHECK(floor.change < settings.threshold);
  CHECK(floor.runs_unchanged < 6);
  CHECK(floor.runs_changed >= 2 * (settings.confirm_pairs_min + settings.screen_pairs_min));
}

TEST_CASE("a noisier series finds less and costs more") {
  const auto quiet = foretell_floor(pairs_with_spread(0.02), {});
  const auto noisy = foretell_floor(pairs_with_spread(0.10), {});
  CHECK(noisy.change > 1.5 * quiet.change);
  CHECK(noisy.runs_unchanged > 2 * quiet.runs_unchanged);
}

TEST_CASE("where not even a doubling is found the floor is infinite") {
  CHECK(std::isinf(foretell_floor(pairs_with_spread(1.5), {}).change));
}

TEST_CASE("the same pairs and seed give the same floor") {
  const auto pairs = pairs_with_spread(0.03);
  CHECK(foretell_floor(pairs, {}, 3).change == foretell_floor(pairs, {}, 3).change);
}
