#include "pair_rules.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "torchwatch/records/statistics.hpp"

using namespace torchwatch;
using namespace torchwatch::experiments;
using Catch::Matchers::WithinAbs;

namespace {

BenchmarkBlocks interleaved_blocks(const std::string& workload, int blocks) {
  BenchmarkBlocks benchmark;
  benchmark.workload = workload;
  benchmark.mode = "infer";
  auto& values = benchmark.ways[static_cast<std::size_t>(kWayOfService)].values;
  for (int i = 0; i < blocks; ++i) values.insert(values.end(), {100, 101, 99, 100});
  return benchmark;
}

Counts judged(const std::vector<Series>& series, Drawn drawn, double slowdown) {
  const detect::Settings settings;
  const auto table =
      judge_all({pair_rule(settings, drawn)}, series_in_turn(series, slowdown, 400), {1, 0}, 1);
  return together(table.front());
}

}  // namespace

TEST_CASE("the pairs of a series are those of its blocks, and short series are left out") {
  const auto series =
      series_of_pairs({interleaved_blocks("long", 3), interleaved_blocks("short", 2)}, 6);
  REQUIRE(series.size() == 1);
  CHECK(series[0].workload == "long infer, 1");
  REQUIRE(series[0].runs.size() == 6);
  CHECK_THAT(series[0].runs[0], WithinAbs(std::log(1.01), 1e-12));
  CHECK_THAT(series[0].runs[1], WithinAbs(std::log(99.0 / 100), 1e-12));
}

TEST_CASE("pairs of a build with itself are unchanged, and a slowdown is found") {
  const std::vector<Series> series{normal_pairs(0.01, 0)};
  const auto unchanged = judged(series, Drawn::by_pair, 1);
  CHECK(unchanged.judged == 400);
  CHECK(unchanged.slower == 0);
  CHECK(unchanged.faster == 0);
  CHECK(judged(series, Drawn::by_pair, 1.15).slower == 400);
  CHECK(judged(series, Drawn::by_pair, 1 / 1.15).faster == 400);
}

TEST_CASE("pairs drawn in order keep what neighbours have in common") {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.insert(values.end(), {100, 106, 94, 100});
  auto alternating = interleaved_blocks("alternating", 0);
  alternating.ways[static_cast<std::size_t>(kWayOfService)].values = values;
  const auto series = series_of_pairs({alternating}, 80);
  const auto in_order = judged(series, Drawn::in_order, 1);
  CHECK(in_order.undecided == 0);
  CHECK(in_order.runs < judged(series, Drawn::by_pair, 1).runs);
}

TEST_CASE("simulated normal pairs have their spread and no centre of their own") {
  const auto series = normal_pairs(0.02, 0);
  CHECK_THAT(robust_sd(series.runs), WithinAbs(0.02, 1e-4));
  CHECK_THAT(median(series.runs), WithinAbs(0, 1e-9));
}

TEST_CASE("the least number of pairs is Wald's") {
  // Errors of 5 % both ways: 0.95 ln 19 + 0.05 ln (1 / 19) = 2.65; an effect of one spread:
  // times 2.
  const double one_spread = std::expm1(0.01);
  const auto least = least_pairs(0.01, one_spread, 0.05, 0.05);
  CHECK_THAT(least.unchanged, WithinAbs(5.30, 0.005));
  CHECK_THAT(least.changed, WithinAbs(5.30, 0.005));
  CHECK_THAT(least_pairs(0.02, one_spread, 0.05, 0.05).changed, WithinAbs(4 * 5.30, 0.02));
  CHECK(least_pairs(0.01, one_spread, 1e-6, 0.05).changed > 4 * least.changed);
}
