#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "torchwatch/comparison/schedule.hpp"

using namespace torchwatch;
using namespace torchwatch::comparison;

namespace {

const Series kTime{{"a", {Device::cpu, Mode::train}, {}}, Metric::time};
const double kHalf = std::sqrt(1.07);

/// Returns the verdict on a series whose pairs scatter about `log_change`. It is screened by eight
/// pairs or more, as in a recheck.
storage::VerdictRow rechecked(double log_change, std::map<Series, double> rests) {
  constexpr std::array kDeviations{0.036, -0.036, 0.01, -0.01};
  Plan plan;
  plan.benchmarks = {kTime.benchmark};
  plan.passes = {Pass::timing};
  detect::Settings settings;
  settings.screen_pairs_min = 8;
  Schedule schedule(plan, SeriesSettings(settings), 1);
  schedule.bound_rests(std::move(rests));
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto pair = static_cast<std::size_t>(2 * block->index + position / 2);
      const bool is_candidate = block->side(position) == Side::candidate;
      const double moved = log_change + kDeviations[pair % kDeviations.size()];
      storage::RunRow row;
      row.slot = block->slot(position);
      row.benchmark = block->benchmark;
      row.pass = block->pass;
      row.values = {
          {Metric::time, static_cast<std::int64_t>(1e9 * std::exp(is_candidate ? moved : 0))}};
      schedule.add(row, "cpu: x\n");
    }
  }
  const auto judged = schedule.judged();
  REQUIRE(judged.size() == 1);
  return judged.front().verdict;
}

/// Returns the verdict on a sampled peak whose runs of one build state 100, 100, 110 and 112 MiB in
/// turn, and half as much again with the candidate.
storage::VerdictRow judged_peak() {
  constexpr std::array<std::int64_t, 4> kMebibytes{100, 100, 110, 112};
  Plan plan;
  plan.benchmarks = {kTime.benchmark};
  plan.passes = {Pass::memory};
  Schedule schedule(plan, SeriesSettings(detect::Settings{}), 1);
  std::map<std::pair<Stage, Side>, std::size_t> measured;
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto side = block->side(position);
      const auto turn = measured[{block->stage, side}]++ % kMebibytes.size();
      const auto bytes = kMebibytes.at(turn) << 20;
      storage::RunRow row;
      row.slot = block->slot(position);
      row.benchmark = block->benchmark;
      row.pass = block->pass;
      row.values = {{Metric::cpu_peak_resident, side == Side::candidate ? bytes / 2 * 3 : bytes}};
      schedule.add(row, "cpu: x\n");
    }
  }
  return schedule.judged().at(0).verdict;
}

}  // namespace

TEST_CASE("a row of memory has the values that its change is of") {
  const auto row = judged_peak();
  CHECK(row.verdict == Verdict::regressed);
  CHECK(row.runs == 8);
  CHECK(row.baseline_value == 100 << 20);
  CHECK(row.candidate_value == 150 << 20);
  CHECK(row.ratio == Approx(1.5));
}

TEST_CASE("an unchanged series is measured until less than half of the change can be left") {
  const auto screened = rechecked(0, {});
  CHECK(screened.verdict == Verdict::unchanged);
  CHECK(screened.runs == 16);
  CHECK(screened.interval_high > kHalf);

  const auto bounded = rechecked(0, {{kTime, kHalf}});
  CHECK(bounded.verdict == Verdict::unchanged);
  CHECK(bounded.runs == 48);
  CHECK(bounded.interval_high < kHalf);
  CHECK(bounded.reason.ends_with("at 99 %, 24 pairs"));
}

TEST_CASE("a rest of about half the change is left after the look that shows it") {
  const auto left = rechecked(0.034, {{kTime, kHalf}});
  CHECK(left.verdict == Verdict::unchanged);
  CHECK(left.runs == 24);
  CHECK(left.interval_high > kHalf);
}

TEST_CASE("the rest of a large change is bounded by the runs that show that it is unchanged") {
  CHECK(rechecked(0, {{kTime, std::sqrt(1.2)}}).runs == 16);
}

TEST_CASE("a change that is still there takes no run for its rest") {
  const auto there = rechecked(0.15, {{kTime, kHalf}});
  CHECK(there.verdict == Verdict::regressed);
  CHECK(there.runs == rechecked(0.15, {}).runs);
}
