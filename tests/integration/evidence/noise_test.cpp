#include "torchwatch/evidence/noise.hpp"

#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/detect/minimum_detectable_effect.hpp"
#include "torchwatch/evidence/series.hpp"

using namespace torchwatch;
using evidence::noise_of;
using storage::RunValue;

namespace {

const Series kTime = series_of("resnet18");

/// Runs of builds in the order A B B A, which differ by the share from one to the next.
std::vector<RunValue> runs_of(int blocks, double share) {
  std::vector<RunValue> runs;
  for (int i = 0; i < 4 * blocks; ++i) {
    const bool is_candidate = i % 4 == 1 || i % 4 == 2;
    const double value = 1e9 * (i % 2 == 0 ? 1 : 1 + share) * (is_candidate ? 1.5 : 1);
    runs.push_back({.attempt = i + 1,
                    .build = is_candidate ? 2 : 1,
                    .value = static_cast<std::int64_t>(value)});
  }
  return runs;
}

}  // namespace

TEST_CASE("noise is what successive runs of one build differ by, whatever lies between builds") {
  const auto noise = noise_of(kTime, runs_of(4, 0.01), {});
  REQUIRE(noise);
  CHECK(noise->pairs == 7);  // B B in each of four blocks, A A from one block to the next
  REQUIRE(noise->minimum_detectable_effect);
  CHECK(*noise->minimum_detectable_effect < 0.1);
  CHECK_FALSE(noise_of(kTime, runs_of(2, 0.01), {}));
}

TEST_CASE("a noisier series has a larger minimum detectable effect, and at last none") {
  const auto quiet = noise_of(kTime, runs_of(4, 0.005), {}).value();
  const auto noisy = noise_of(kTime, runs_of(4, 0.3), {}).value();
  REQUIRE(quiet.minimum_detectable_effect);
  CHECK((!noisy.minimum_detectable_effect ||
         *noisy.minimum_detectable_effect > *quiet.minimum_detectable_effect));
  CHECK_FALSE(noise_of(kTime, runs_of(4, 20), {}).value().minimum_detectable_effect);
}

TEST_CASE("the noise of memory has no such effect, and values of 0 make none") {
  const auto peak = noise_of(series_of("resnet18", Metric::cpu_peak), runs_of(4, 0), {});
  REQUIRE(peak);
  CHECK(peak->spread == 0);
  CHECK_FALSE(peak->minimum_detectable_effect);
  auto none = runs_of(4, 0);
  for (auto& run : none) run.value = 0;
  CHECK_FALSE(noise_of(series_of("resnet18", Metric::leak_growth), none, {}));
}

TEST_CASE("the noise of a series is read from its stored runs") {
  EvidenceRows rows;
  const auto before = rows.add_build("2.14.0.dev20260816");
  const auto row = rows.add_comparison(rows.add_build("2.14.0.dev20260817"), before);
  CHECK_FALSE(evidence::read_noise(*rows.database, kTime, {}).value());
  for (int i = 0; i < 4; ++i) {
    rows.add_block(row, kTime.benchmark, comparison::Stage::screen, i);
  }
  const auto noise = evidence::read_noise(*rows.database, kTime, {}).value();
  REQUIRE(noise);
  CHECK(noise->pairs == 4);  // blocks begin with either build by turns
}
