#include <catch2/catch.hpp>

#include "scripted_schedule.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;
using storage::RunRow;
using test::carried_out;
using test::crashed;
using test::ok;
using test::plan_of;
using test::verdict_of;

TEST_CASE("memory kept per iteration is a regression of the leak metric alone") {
  const auto [leaking, other] = GENERATE(table<Metric, Metric>(
      {{Metric::leak_growth, Metric::heap_growth}, {Metric::heap_growth, Metric::leak_growth}}));
  const auto schedule = carried_out(
      plan_of({"a"}, {Pass::memory}), [kept = leaking, none = other](const Block&, Side side, int) {
        const std::int64_t growth = side == Side::candidate ? 4096 : 0;
        return ok({{Metric::cpu_peak, 50'000'000}, {kept, growth}, {none, 0}});
      });
  REQUIRE(verdict_of(schedule, leaking) == Verdict::regressed);
  REQUIRE(verdict_of(schedule, other) == Verdict::unchanged);
  REQUIRE(verdict_of(schedule, Metric::cpu_peak) == Verdict::unchanged);
}

TEST_CASE("memory begins with the baseline, and what has begun continues as it began") {
  const auto plan = plan_of({"a"}, {Pass::timing, Pass::memory});
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Schedule schedule(plan, SeriesSettings(detect::Settings{}), seed);
    CHECK(schedule.next(plan.benchmarks[0], Pass::memory)->index == 0);
    Block begun{.benchmark = plan.benchmarks[0]};
    auto run = ok({{Metric::time, 1}});
    run.slot = begun.slot(0);
    schedule.add(run, "");
    CHECK(schedule.next(plan.benchmarks[0], Pass::timing)->index == 0);
  }
}

TEST_CASE("a metric that the candidate no longer has is lost, and one that only it has is not") {
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::memory}), [](const Block&, Side side, int) {
        if (side == Side::baseline) {
          return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_growth, 0}});
        }
        return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_retained, 0}});
      });
  const auto judged = schedule.judged();
  REQUIRE(judged.size() == 2);
  REQUIRE(judged[0].verdict.series.metric == Metric::cpu_peak);
  REQUIRE_FALSE(judged[0].lost);
  REQUIRE(judged[1].verdict.series.metric == Metric::leak_growth);
  REQUIRE(judged[1].lost);
  REQUIRE(judged[1].verdict.verdict == Verdict::failed);
}

TEST_CASE("a metric that comes and goes is inconclusive") {
  int candidates = 0;
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side, int) {
        const bool is_candidate = side == Side::candidate;
        const std::int64_t peak = is_candidate ? 50'000'064 : 50'000'000;
        if (is_candidate && ++candidates % 2 == 0) return ok({{Metric::cpu_peak, peak}});
        return ok({{Metric::cpu_peak, peak}, {Metric::leak_growth, 0}});
      });
  REQUIRE(verdict_of(schedule, Metric::cpu_peak) == Verdict::unchanged);
  REQUIRE(verdict_of(schedule, Metric::leak_growth) == Verdict::inconclusive);
}

TEST_CASE("one run of each build is enough where they are alike in all that is judged") {
  int runs = 0;
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side, int) {
        ++runs;
        // A sampled peak is alike within half of what counts.
        const std::int64_t resident = side == Side::candidate ? 201'000'000 : 200'000'000;
        return ok({{Metric::cpu_peak, 50'000'000},
                   {Metric::cpu_peak_resident, resident},
                   {Metric::leak_growth, 64},
                   {Metric::output_difference, 0}});
      });
  CHECK(runs == 2);
  const auto judged = schedule.judged();
  REQUIRE(judged.size() == 4);
  for (const auto& series : judged) {
    CHECK(series.verdict.verdict == Verdict::unchanged);
    CHECK(series.verdict.runs == 2);
    CHECK_THAT(series.verdict.reason, Catch::Contains("1 + 1 runs"));
  }
}

TEST_CASE("memory of which one figure differs is measured in a whole block") {
  const auto different = GENERATE(Metric::cpu_peak, Metric::leak_growth, Metric::heap_growth,
                                  Metric::leak_retained, Metric::output_difference);
  int runs = 0;
  carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side, int) {
    ++runs;
    const std::int64_t more = side == Side::candidate ? 1000 : 0;
    return ok({{Metric::cpu_peak_resident, 200'000'000}, {different, 1000 + more}});
  });
  CHECK(runs >= Block::kRuns);
}

TEST_CASE("a first pair of which one run failed, or on another machine, is not enough") {
  int runs = 0;
  const auto failing = carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side, int) {
    return ++runs > 1 && runs < 4 ? crashed() : ok({{Metric::cpu_peak, 50'000'000}});
  });
  CHECK(runs > 4);
  runs = 0;
  const auto elsewhere = carried_out(
      plan_of({"a"}, {Pass::memory}),
      [&](const Block&, Side, int) {
        ++runs;
        return ok({{Metric::cpu_peak, 50'000'000}});
      },
      "cpu: y\n");
  CHECK(runs == 4);
  CHECK(verdict_of(elsewhere, Metric::cpu_peak) == Verdict::inconclusive);
}

TEST_CASE("a series with its own threshold is judged by it and the others by the common one") {
  const std::vector<config::SeriesThreshold> own{
      config::parse_series_threshold("cpu_peak a 0.5").value()};
  Schedule schedule(plan_of({"a", "b"}, {Pass::memory}), SeriesSettings(detect::Settings{}, own),
                    1);
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < block->runs; ++position) {
      const bool candidate = block->side(position) == Side::candidate;
      auto row = ok({{Metric::cpu_peak, candidate ? 65'000'000 : 50'000'000}});
      row.slot = block->slot(position);
      schedule.add(row, "");
    }
  }
  const auto judged = schedule.judged();
  REQUIRE(judged.size() == 2);
  REQUIRE(judged[0].verdict.verdict == Verdict::unchanged);
  REQUIRE(judged[1].verdict.verdict == Verdict::regressed);
}

TEST_CASE("a peak that is exact is confirmed in fresh runs and regresses by three per cent") {
  int runs = 0;
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side, int) {
        ++runs;
        const bool candidate = side == Side::candidate;
        return ok({{Metric::cpu_peak, candidate ? 103'000'000 : 100'000'000},
                   {Metric::cpu_peak_resident, candidate ? 206'000'000 : 200'000'000}});
      });
  CHECK(verdict_of(schedule, Metric::cpu_peak) == Verdict::regressed);
  CHECK(verdict_of(schedule, Metric::cpu_peak_resident) == Verdict::unchanged);
  CHECK(runs == 12);
}

TEST_CASE("a peak that no run repeats is unchanged by three per cent, after screening alone") {
  int runs = 0;
  const auto schedule = carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side,
                                                                        int) {
    return ok({{Metric::cpu_peak, (side == Side::candidate ? 103'000'000 : 100'000'000) + ++runs}});
  });
  CHECK(verdict_of(schedule, Metric::cpu_peak) == Verdict::unchanged);
  CHECK(runs == 4);
}

TEST_CASE("a peak that screening alone saw as exact is not called regressed") {
  int runs = 0;
  const auto schedule = carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block& block,
                                                                        Side side, int) {
    const int wobble = block.stage == Stage::confirm ? ++runs : 0;
    return ok({{Metric::cpu_peak, (side == Side::candidate ? 103'000'000 : 100'000'000) + wobble}});
  });
  CHECK(verdict_of(schedule, Metric::cpu_peak) == Verdict::unchanged);
  CHECK(runs == 8);
}

TEST_CASE("outputs that a build states no more while they are confirmed are inconclusive") {
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::memory}), [](const Block& block, Side side, int) {
        if (side == Side::baseline) return ok({{Metric::output_difference, 0}});
        if (block.stage == Stage::confirm) return ok({});
        return ok({{Metric::output_difference, 40'000'000}});
      });
  CHECK(verdict_of(schedule, Metric::output_difference) == Verdict::inconclusive);
}
