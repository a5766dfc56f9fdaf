// In which order a comparison takes its blocks.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "scripted_schedule.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;
using test::ok;
using test::plan_of;

namespace {

/// Adds the runs of a block, in which the candidate takes that many times as long and as much.
void carry_out(const Block& block, double factor, Schedule& schedule) {
  for (int position = 0; position < block.runs; ++position) {
    const double by = block.side(position) == Side::candidate ? factor : 1.0;
    // No two runs are exactly alike.
    const double time = 1e9 * (1 + 0.001 * position) * by;
    auto row = ok({{Metric::time, std::llround(time)}, {Metric::cpu_peak, std::llround(1e8 * by)}});
    row.slot = block.slot(position);
    row.benchmark = block.benchmark;
    row.pass = block.pass;
    schedule.add(row, "cpu: x\n");
  }
}

/// The first block of all that are left, found by a look at each benchmark.
std::optional<Block> first_left(const Plan& plan, const Schedule& schedule) {
  std::optional<Block> first;
  for (const auto& benchmark : plan.benchmarks) {
    for (const auto pass : plan.passes) {
      const auto block = schedule.next(benchmark, pass);
      if (!block) continue;
      if (!first || schedule.rank_of(*block) < schedule.rank_of(*first)) first = block;
    }
  }
  return first;
}

}  // namespace

TEST_CASE("the next block is the first of all that are left, whatever was measured") {
  const auto plan = plan_of({"a", "b", "c", "d"}, {Pass::timing, Pass::memory});
  Schedule schedule(plan, SeriesSettings(detect::Settings{}), 7);
  int blocks = 0;
  for (auto step = schedule.next(); step.block; step = schedule.next()) {
    REQUIRE(step.block->slot(0) == first_left(plan, schedule)->slot(0));
    REQUIRE(step.total == 8);
    const bool is_slower = step.block->benchmark.workload == "b";
    carry_out(*step.block, is_slower ? 1.4 : 1.0, schedule);
    // Somebody else's runs, as of a lane, count from then on.
    const auto other = schedule.next(plan.benchmarks[3], Pass::timing);
    if (++blocks == 1 && other) carry_out(*other, 1, schedule);
    REQUIRE(blocks < 200);
  }
  CHECK(blocks > 8);
  CHECK_FALSE(first_left(plan, schedule));
  CHECK(schedule.next().decided == 8);
}

TEST_CASE("no benchmark's second block comes before every benchmark's first") {
  const auto plan = plan_of({"a", "b", "c"}, {Pass::timing, Pass::memory});
  Schedule schedule(plan, SeriesSettings(detect::Settings{}), 7);
  std::set<std::pair<std::string, Pass>> seen;
  for (int i = 0; i < 6; ++i) {
    const auto block = schedule.next().block;
    REQUIRE(block);
    REQUIRE(seen.emplace(block->benchmark.workload, block->pass).second);
    for (int position = 0; position < Block::kRuns; ++position) {
      auto row = ok({{Metric::time, 1'000'000}, {Metric::cpu_peak, 1000}});
      row.slot = block->slot(position);
      schedule.add(row, "");
    }
  }
}

TEST_CASE("about half of all comparisons begin a benchmark's timing with either build") {
  const auto plan = plan_of({"a", "b"}, {Pass::timing});
  constexpr int kSeeds = 1000;
  int with_candidate = 0;
  int alike = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Schedule schedule(plan, SeriesSettings(detect::Settings{}), seed);
    const auto first = [&](const Benchmark& benchmark) {
      return schedule.next(benchmark, Pass::timing)->side(0);
    };
    if (first(plan.benchmarks[0]) == Side::candidate) ++with_candidate;
    if (first(plan.benchmarks[0]) == first(plan.benchmarks[1])) ++alike;
  }
  CHECK(std::abs(with_candidate - kSeeds / 2) < kSeeds / 10);
  CHECK(std::abs(alike - kSeeds / 2) < kSeeds / 10);
}
