#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/comparison/schedule.hpp"

/// Schedules whose runs are made up.
namespace torchwatch::test {

using comparison::Block;
using comparison::Plan;
using comparison::Schedule;
using comparison::SeriesSettings;
using comparison::Side;
using storage::RunRow;

inline Plan plan_of(std::vector<std::string> workloads, std::vector<Pass> passes) {
  Plan plan;
  for (auto& name : workloads)
    plan.benchmarks.push_back(Benchmark{name, {Device::cpu, Mode::train}, {}});
  plan.passes = std::move(passes);
  return plan;
}

/// Returns the result of a run of that block and side.
using Script = std::function<RunRow(const Block&, Side, int attempt)>;

inline RunRow ok(std::map<Metric, std::int64_t> values) {
  RunRow row;
  row.values = std::move(values);
  return row;
}

inline RunRow crashed() {
  RunRow row;
  row.status = RunStatus::failed;
  row.reason = "killed by signal 11 (SIGSEGV)";
  return row;
}

inline Schedule carried_out(const Plan& plan, const Script& script,
                            const std::string& candidate_machine = "cpu: x\n",
                            bool is_study = false) {
  Schedule schedule(plan, SeriesSettings(detect::Settings{}), 1);
  if (is_study) schedule.compare_settings();
  int runs = 0;
  while (const auto block = schedule.next().block) {
    for (int position = 0; position < block->runs; ++position) {
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

inline Verdict verdict_of(const Schedule& schedule, Metric metric) {
  for (const auto& series : schedule.judged()) {
    if (series.verdict.series.metric == metric) return series.verdict.verdict;
  }
  FAIL("there is no verdict on that metric");
  return Verdict::failed;
}

}  // namespace torchwatch::test
