#include "torchwatch/comparison/schedule.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "scripted_schedule.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;
using storage::RunRow;
using test::carried_out;
using test::crashed;
using test::ok;
using test::plan_of;
using test::verdict_of;

namespace {
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
    for (int position = 0; position < block->runs; ++position) {
      auto row = ok({{Metric::time, time_of(*block, block->side(position), position, 1.4)},
                     {Metric::cpu_peak, 1000}});
      row.slot = block->slot(position);
      rows.push_back(row);
      first.add(row, "");
    }
  }
}
