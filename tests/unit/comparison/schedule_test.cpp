#include "torchwatch/comparison/schedule.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

using namespace torchwatch;
using namespace torchwatch::comparison;
using storage::RunRow;

namespace {

Plan plan_of(std::vector<std::string> workloads, std::vector<Pass> passes) {
  Plan plan;
  for (auto& name : workloads)
    plan.benchmarks.push_back(Benchmark{name, {Device::cpu, Mode::train}, {}});
  plan.passes = std::move(passes);
  return plan;
}

/// Returns the result of a run of that block and side.
using Script = std::function<RunRow(const Block&, Side, int attempt)>;

RunRow ok(std::map<Metric, std::int64_t> values) {
  RunRow row;
  row.values = std::move(values);
  return row;
}

RunRow crashed() {
  RunRow row;
  row.status = RunStatus::failed;
  row.reason = "killed by signal 11 (SIGSEGV)";
  return row;
}

/// A repeatable wobble of up to 1 %, so that no pair is exactly alike.
double wobble(const std::string& slot) {
  const auto hash = std::hash<std::string>{}(slot);
  return 1.0 + static_cast<double>(hash % 1000) / 100'000;
}

std::int64_t time_of(const Block& block, Side side, int position, double factor) {
  const double value =
      1e7 * wobble(block.slot(position)) * (side == Side::candidate ? factor : 1.0);
  return static_cast<std::int64_t>(value);
}

Schedule carried_out(const Plan& plan, const Script& script,
                     const std::string& candidate_machine = "cpu: x\n", bool is_study = false) {
  Schedule schedule(plan, SeriesSettings(detect::Settings{}), 1);
  if (is_study) schedule.compare_settings();
  int runs = 0;
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto slot = block->slot(position);
      for (int attempt = 0; !schedule.runs().is_closed(slot); ++attempt) {
        auto row = script(*block, block->side(position), attempt);
        row.slot = slot;
        row.benchmark = block->benchmark;
        row.pass = block->pass;
        const bool candidate = block->side(position) == Side::candidate;
        schedule.add(row, candidate ? candidate_machine : "cpu: x\n");
        REQUIRE(++runs < 2000);
      }
    }
  }
  return schedule;
}

Verdict verdict_of(const Schedule& schedule, Metric metric) {
  for (const auto& series : schedule.judged()) {
    if (series.verdict.series.metric == metric) return series.verdict.verdict;
  }
  FAIL("there is no verdict on that metric");
  return Verdict::failed;
}

}  // namespace

TEST_CASE("a comparison of equal builds ends after screening, without a change") {
  const auto schedule =
      carried_out(plan_of({"a", "b"}, {Pass::timing}), [](const Block& block, Side side, int) {
        REQUIRE(block.stage == Stage::screen);
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  REQUIRE(verdict_of(schedule, Metric::time) == Verdict::unchanged);
  REQUIRE(schedule.judged().size() == 2);
}

TEST_CASE("a large slow-down is confirmed on runs that took no part in screening") {
  std::set<Stage> stages;
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::timing}), [&](const Block& block, Side side, int) {
        stages.insert(block.stage);
        return ok({{Metric::time, time_of(block, side, 0, 1.4)}});
      });
  REQUIRE(stages.contains(Stage::confirm));
  REQUIRE(verdict_of(schedule, Metric::time) == Verdict::regressed);
}

TEST_CASE("a slow-down that is gone when it is measured again is not a regression") {
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int) {
        const double factor = block.stage == Stage::screen ? 1.4 : 1.0;
        return ok({{Metric::time, time_of(block, side, 0, factor)}});
      });
  REQUIRE(verdict_of(schedule, Metric::time) != Verdict::regressed);
}

TEST_CASE("two settings of one build are compared where they are facts of the machine") {
  const auto script = [](const Block& block, Side side, int) {
    return ok({{Metric::time, time_of(block, side, 0, 1.4)}});
  };
  const auto plan = plan_of({"a"}, {Pass::timing});
  const std::string other = "cpu: x\nthreads: 2\n";
  CHECK(verdict_of(carried_out(plan, script, other), Metric::time) == Verdict::inconclusive);
  CHECK(verdict_of(carried_out(plan, script, other, true), Metric::time) == Verdict::regressed);
}

TEST_CASE("a machine that changes under one setting of two decides nothing") {
  const auto plan = plan_of({"a"}, {Pass::timing});
  for (const auto changed : {Side::baseline, Side::candidate}) {
    Schedule schedule(plan, SeriesSettings(detect::Settings{}), 1);
    schedule.compare_settings();
    const auto block = schedule.next().block.value();
    int of_side = 0;
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto side = block.side(position);
      auto row = ok({{Metric::time, time_of(block, side, position, 1)}});
      row.slot = block.slot(position);
      row.benchmark = block.benchmark;
      const bool is_changed = side == changed && ++of_side == 2;
      schedule.add(row, is_changed ? "cpu: y\n" : "cpu: x\n");
    }
    const auto judged = schedule.judged();
    REQUIRE(judged.size() == 1);
    CHECK(judged[0].verdict.verdict == Verdict::inconclusive);
    CHECK_THAT(judged[0].verdict.reason, Catch::Contains("cpu: x -> cpu: y"));
  }
}

TEST_CASE("what only one setting cannot take is unsupported, whichever it is") {
  const auto plan = plan_of({"a"}, {Pass::timing});
  for (const auto without : {Side::baseline, Side::candidate}) {
    const auto script = [&](const Block& block, Side side, int) {
      auto row = ok({{Metric::time, time_of(block, side, 0, 1)}});
      if (side != without) return row;
      row = {};
      row.status = RunStatus::unsupported;
      row.reason = "no bf16 here";
      return row;
    };
    const auto judged = carried_out(plan, script, "cpu: x\n", true).judged();
    REQUIRE(judged.size() == 1);
    CHECK(judged[0].verdict.verdict == Verdict::unsupported);
    CHECK(judged[0].verdict.reason == (without == Side::baseline
                                           ? "not supported with A: no bf16 here"
                                           : "runs with A and not with B: no bf16 here"));
  }
}

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

TEST_CASE("what stands beside a time is not judged, whatever it says and whichever runs state it") {
  const auto beside = [](Side side) -> std::map<Metric, std::int64_t> {
    const bool is_worse = side == Side::candidate;
    return {{Metric::first_iteration, is_worse ? 9'000'000'000 : 20'000'000},
            {Metric::throughput, is_worse ? 1 : 1'000'000}};
  };
  // States it with both, with the baseline alone, with the candidate alone, with neither.
  for (const int stating : {3, 1, 2, 0}) {
    const auto schedule =
        carried_out(plan_of({"a"}, {Pass::timing}), [&](const Block& block, Side side, int) {
          auto row = ok({{Metric::time, time_of(block, side, 0, 1)}});
          const int bit = side == Side::baseline ? 1 : 2;
          if ((stating & bit) != 0) row.values.merge(beside(side));
          return row;
        });
    const auto judged = schedule.judged();
    REQUIRE(judged.size() == 1);
    CHECK(judged[0].verdict.series.metric == Metric::time);
    CHECK(judged[0].verdict.verdict == Verdict::unchanged);
    CHECK_FALSE(judged[0].lost);
    CHECK(judged[0].verdict.runs == Block::kRuns);
  }
}

TEST_CASE("a workload that stops running with the candidate is lost, whatever its times were") {
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int) {
        if (side == Side::candidate) return crashed();
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  const auto judged = schedule.judged();
  REQUIRE(judged.size() == 1);
  REQUIRE(judged[0].lost);
  REQUIRE(judged[0].verdict.verdict == Verdict::failed);
  REQUIRE(judged[0].verdict.reason.find("SIGSEGV") != std::string::npos);
}

TEST_CASE("a workload that fails with both builds is failed, not lost") {
  const auto schedule = carried_out(plan_of({"a"}, {Pass::timing}),
                                    [](const Block&, Side, int) { return crashed(); });
  REQUIRE_FALSE(schedule.judged()[0].lost);
  REQUIRE(schedule.judged()[0].verdict.verdict == Verdict::failed);
}

TEST_CASE("a run that crashed once is tried again, and the crash does not count") {
  const auto schedule =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int attempt) {
        if (attempt == 0 && side == Side::candidate) return crashed();
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  REQUIRE(verdict_of(schedule, Metric::time) == Verdict::unchanged);
}

TEST_CASE("runs on two machines are not compared") {
  const auto schedule = carried_out(
      plan_of({"a"}, {Pass::timing}),
      [](const Block& block, Side side, int) {
        return ok({{Metric::time, time_of(block, side, 0, 1.4)}});
      },
      "cpu: y\n");
  const auto judged = schedule.judged();
  REQUIRE(judged[0].verdict.verdict == Verdict::inconclusive);
  REQUIRE(judged[0].verdict.reason.find("cpu: x -> cpu: y") != std::string::npos);
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

TEST_CASE("a schedule restored from its runs has the same next block") {
  const auto plan = plan_of({"a", "b"}, {Pass::timing, Pass::memory});
  Schedule first(plan, SeriesSettings(detect::Settings{}), 3);
  std::vector<RunRow> rows;
  for (int i = 0; i < 30; ++i) {
    Schedule again(plan, SeriesSettings(detect::Settings{}), 3);
    for (const auto& row : rows) again.add(row, "");
    const auto block = first.next().block;
    const auto block_again = again.next().block;
    REQUIRE(block.has_value() == block_again.has_value());
    if (!block) break;
    REQUIRE(block->slot(0) == block_again->slot(0));
    for (int position = 0; position < Block::kRuns; ++position) {
      auto row = ok({{Metric::time, time_of(*block, block->side(position), position, 1.4)},
                     {Metric::cpu_peak, 1000}});
      row.slot = block->slot(position);
      rows.push_back(row);
      first.add(row, "");
    }
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
        if (side == Side::candidate && ++candidates % 2 == 0) {
          return ok({{Metric::cpu_peak, 50'000'000}});
        }
        return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_growth, 0}});
      });
  REQUIRE(verdict_of(schedule, Metric::cpu_peak) == Verdict::unchanged);
  REQUIRE(verdict_of(schedule, Metric::leak_growth) == Verdict::inconclusive);
}

TEST_CASE("a series with its own threshold is judged by it and the others by the common one") {
  const std::vector<config::SeriesThreshold> own{
      config::parse_series_threshold("cpu_peak a 0.5").value()};
  Schedule schedule(plan_of({"a", "b"}, {Pass::memory}), SeriesSettings(detect::Settings{}, own),
                    1);
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
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
