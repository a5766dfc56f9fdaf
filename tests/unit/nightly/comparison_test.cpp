#include "torchwatch/nightly/comparison.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

using namespace torchwatch;
using namespace torchwatch::nightly;
using storage::RunRow;

namespace {

Plan plan_of(std::vector<std::string> workloads, std::vector<Pass> passes) {
  Plan plan;
  for (auto& name : workloads) plan.cells.push_back(Cell{name, {Device::cpu, Mode::train}, {}});
  plan.passes = std::move(passes);
  return plan;
}

/// What a run of that block and side gives.
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

Comparison carried_out(const Plan& plan, const Script& script,
                       const std::string& candidate_machine = "cpu: x\n") {
  Comparison comparison(plan, detect::Settings{}, 1);
  int runs = 0;
  while (const auto block = comparison.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto slot = block->slot(position);
      for (int attempt = 0; !comparison.is_closed(slot); ++attempt) {
        auto row = script(*block, block->side(position), attempt);
        row.slot = slot;
        row.cell = block->cell;
        row.pass = block->pass;
        const bool candidate = block->side(position) == Side::candidate;
        comparison.add(row, candidate ? candidate_machine : "cpu: x\n");
        REQUIRE(++runs < 2000);
      }
    }
  }
  return comparison;
}

Verdict verdict_of(const Comparison& comparison, Metric metric) {
  for (const auto& finding : comparison.findings()) {
    if (finding.verdict.target.metric == metric) return finding.verdict.verdict;
  }
  FAIL("no finding for that metric");
  return Verdict::failed;
}

}  // namespace

TEST_CASE("a comparison of equal builds ends after screening, without a change") {
  const auto comparison =
      carried_out(plan_of({"a", "b"}, {Pass::timing}), [](const Block& block, Side side, int) {
        REQUIRE(block.stage == Stage::screen);
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  REQUIRE(verdict_of(comparison, Metric::time) == Verdict::unchanged);
  REQUIRE(comparison.findings().size() == 2);
}

TEST_CASE("a large slow-down is confirmed on runs that took no part in screening") {
  std::set<Stage> stages;
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::timing}), [&](const Block& block, Side side, int) {
        stages.insert(block.stage);
        return ok({{Metric::time, time_of(block, side, 0, 1.4)}});
      });
  REQUIRE(stages.contains(Stage::confirm));
  REQUIRE(verdict_of(comparison, Metric::time) == Verdict::regressed);
}

TEST_CASE("a slow-down that is gone when it is measured again is no regression") {
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int) {
        const double factor = block.stage == Stage::screen ? 1.4 : 1.0;
        return ok({{Metric::time, time_of(block, side, 0, factor)}});
      });
  REQUIRE(verdict_of(comparison, Metric::time) != Verdict::regressed);
}

TEST_CASE("memory kept per iteration is a regression of the leak that it is alone") {
  const auto [leaking, other] = GENERATE(table<Metric, Metric>(
      {{Metric::leak_growth, Metric::heap_growth}, {Metric::heap_growth, Metric::leak_growth}}));
  const auto comparison = carried_out(
      plan_of({"a"}, {Pass::memory}), [kept = leaking, none = other](const Block&, Side side, int) {
        const std::int64_t growth = side == Side::candidate ? 4096 : 0;
        return ok({{Metric::cpu_peak, 50'000'000}, {kept, growth}, {none, 0}});
      });
  REQUIRE(verdict_of(comparison, leaking) == Verdict::regressed);
  REQUIRE(verdict_of(comparison, other) == Verdict::unchanged);
  REQUIRE(verdict_of(comparison, Metric::cpu_peak) == Verdict::unchanged);
}

TEST_CASE("a workload that stops running with the candidate is lost, whatever its times were") {
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int) {
        if (side == Side::candidate) return crashed();
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  const auto findings = comparison.findings();
  REQUIRE(findings.size() == 1);
  REQUIRE(findings[0].lost);
  REQUIRE(findings[0].verdict.verdict == Verdict::failed);
  REQUIRE(findings[0].verdict.reason.find("SIGSEGV") != std::string::npos);
}

TEST_CASE("a workload that fails with both builds is failed, not lost") {
  const auto comparison = carried_out(plan_of({"a"}, {Pass::timing}),
                                      [](const Block&, Side, int) { return crashed(); });
  REQUIRE_FALSE(comparison.findings()[0].lost);
  REQUIRE(comparison.findings()[0].verdict.verdict == Verdict::failed);
}

TEST_CASE("one crash is tried again and then forgotten") {
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::timing}), [](const Block& block, Side side, int attempt) {
        if (attempt == 0 && side == Side::candidate) return crashed();
        return ok({{Metric::time, time_of(block, side, 0, 1)}});
      });
  REQUIRE(verdict_of(comparison, Metric::time) == Verdict::unchanged);
}

TEST_CASE("runs on two machines are not compared") {
  const auto comparison = carried_out(
      plan_of({"a"}, {Pass::timing}),
      [](const Block& block, Side side, int) {
        return ok({{Metric::time, time_of(block, side, 0, 1.4)}});
      },
      "cpu: y\n");
  const auto findings = comparison.findings();
  REQUIRE(findings[0].verdict.verdict == Verdict::inconclusive);
  REQUIRE(findings[0].verdict.reason.find("cpu: x -> cpu: y") != std::string::npos);
}

TEST_CASE("cells take turns: nobody's second block comes before everybody's first") {
  const auto plan = plan_of({"a", "b", "c"}, {Pass::timing, Pass::memory});
  Comparison comparison(plan, detect::Settings{}, 7);
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    const auto block = comparison.next().block;
    REQUIRE(block);
    REQUIRE(block->index == 0);
    REQUIRE(seen.insert(block->slot(0)).second);
    for (int position = 0; position < Block::kRuns; ++position) {
      auto row = ok({{Metric::time, 1'000'000}, {Metric::cpu_peak, 1000}});
      row.slot = block->slot(position);
      comparison.add(row, "");
    }
  }
}

TEST_CASE("a comparison made again from its runs asks for the same next block") {
  const auto plan = plan_of({"a", "b"}, {Pass::timing, Pass::memory});
  Comparison first(plan, detect::Settings{}, 3);
  std::vector<RunRow> rows;
  for (int i = 0; i < 30; ++i) {
    Comparison again(plan, detect::Settings{}, 3);
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

TEST_CASE(
    "a metric that the candidate no longer has is lost, one that it is the first to have is not") {
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::memory}), [](const Block&, Side side, int) {
        if (side == Side::baseline) {
          return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_growth, 0}});
        }
        return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_retained, 0}});
      });
  const auto findings = comparison.findings();
  REQUIRE(findings.size() == 2);
  REQUIRE(findings[0].verdict.target.metric == Metric::cpu_peak);
  REQUIRE_FALSE(findings[0].lost);
  REQUIRE(findings[1].verdict.target.metric == Metric::leak_growth);
  REQUIRE(findings[1].lost);
  REQUIRE(findings[1].verdict.verdict == Verdict::failed);
}

TEST_CASE("a metric that comes and goes is inconclusive") {
  int candidates = 0;
  const auto comparison =
      carried_out(plan_of({"a"}, {Pass::memory}), [&](const Block&, Side side, int) {
        if (side == Side::candidate && ++candidates % 2 == 0) {
          return ok({{Metric::cpu_peak, 50'000'000}});
        }
        return ok({{Metric::cpu_peak, 50'000'000}, {Metric::leak_growth, 0}});
      });
  REQUIRE(verdict_of(comparison, Metric::cpu_peak) == Verdict::unchanged);
  REQUIRE(verdict_of(comparison, Metric::leak_growth) == Verdict::inconclusive);
}

TEST_CASE("a series with a threshold of its own is judged by it, the others by the common one") {
  const std::vector<config::SeriesThreshold> own{
      config::parse_series_threshold("cpu_peak a 0.5").value()};
  Comparison comparison(plan_of({"a", "b"}, {Pass::memory}), {detect::Settings{}, own}, 1);
  while (const auto block = comparison.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const bool candidate = block->side(position) == Side::candidate;
      auto row = ok({{Metric::cpu_peak, candidate ? 65'000'000 : 50'000'000}});
      row.slot = block->slot(position);
      comparison.add(row, "");
    }
  }
  const auto findings = comparison.findings();
  REQUIRE(findings.size() == 2);
  REQUIRE(findings[0].verdict.verdict == Verdict::unchanged);
  REQUIRE(findings[1].verdict.verdict == Verdict::regressed);
}
