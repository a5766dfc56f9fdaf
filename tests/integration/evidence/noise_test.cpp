#include "torchwatch/evidence/noise.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "evidence_rows.hpp"
#include "torchwatch/documents/block.hpp"

using namespace torchwatch;
using evidence::noise_of;
using storage::RunValue;

namespace {

const Series kTime = series_of("resnet18");

/// Runs of blocks A B B A and B A A B. The candidate takes half as long again, and of the two pairs
/// of a block one is wider by the share, in every other block the first.
std::vector<RunValue> runs_of(int blocks, double share) {
  std::vector<RunValue> runs;
  for (int index = 0; index < blocks; ++index) {
    const comparison::Block block{.benchmark = kTime.benchmark, .index = index};
    for (int position = 0; position < comparison::Block::kRuns; ++position) {
      const bool is_candidate = block.side(position) == comparison::Side::candidate;
      const bool is_wider = is_candidate && position / 2 == index / 2 % 2;
      const double value = 1e9 * (is_candidate ? 1.5 : 1) * (is_wider ? 1 + share : 1);
      runs.push_back({.attempt = static_cast<storage::Id>(runs.size()) + 1,
                      .build = is_candidate ? 2 : 1,
                      .value = static_cast<std::int64_t>(value),
                      .comparison = 1,
                      .slot = block.slot(position)});
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("noise is what the pairs of a block differ by, whatever lies between the builds") {
  const auto noise = noise_of(kTime, runs_of(8, 0.01), {});
  REQUIRE(noise);
  CHECK(noise->pairs == 16);
  CHECK(noise->spread == Approx(1.4826 * std::log(1.01) / std::numbers::sqrt2).epsilon(0.01));
  REQUIRE(noise->minimum_detectable_effect);
  CHECK(*noise->minimum_detectable_effect < 0.1);
  CHECK_FALSE(noise_of(kTime, runs_of(3, 0.01), {}));
}

TEST_CASE("runs that make no block say nothing of noise") {
  auto runs = runs_of(4, 0.01);
  runs.back().slot = "alone/timing/resnet18 cpu-train/0";
  CHECK_FALSE(noise_of(kTime, runs, {}));
  runs = runs_of(4, 0.01);
  for (auto& run : runs) run.comparison.reset();
  CHECK_FALSE(noise_of(kTime, runs, {}));
  // Blocks of two comparisons have like slots.
  runs = runs_of(4, 0.01);
  for (auto& run : runs_of(4, 0.01)) {
    run.comparison = 2;
    runs.push_back(run);
  }
  CHECK(noise_of(kTime, runs, {}).value().pairs == 16);
}

TEST_CASE("a noisier series has a larger minimum detectable effect, and at last none") {
  const auto quiet = noise_of(kTime, runs_of(8, 0.005), {}).value();
  const auto noisy = noise_of(kTime, runs_of(8, 0.3), {}).value();
  REQUIRE(quiet.minimum_detectable_effect);
  CHECK((!noisy.minimum_detectable_effect ||
         *noisy.minimum_detectable_effect > *quiet.minimum_detectable_effect));
  CHECK_FALSE(noise_of(kTime, runs_of(8, 20), {}).value().minimum_detectable_effect);
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
  CHECK(noise->pairs == 8);
}
