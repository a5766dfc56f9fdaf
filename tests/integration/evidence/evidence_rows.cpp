#include "evidence_rows.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

Id EvidenceRows::add_build(const std::string& name, const std::string& version) {
  BuildStore builds(*database);
  auto row = builds.discover(BuildOrigin::nightly, name).value();
  row.version = version;
  row.trunk_commit = "c0ffee0" + name;
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value().id;
}

ComparisonRow EvidenceRows::add_comparison(Id candidate, Id baseline, WallMillis at,
                                           Purpose purpose) {
  return ComparisonStore(*database)
      .open({.purpose = purpose, .candidate = candidate, .baseline = baseline}, at)
      .value();
}

void EvidenceRows::add_verdict(Id comparison, const Series& series, Verdict word, double ratio,
                               double candidate_value) {
  constexpr double kHalfWidth = 0.02;
  VerdictRow verdict;
  verdict.comparison = comparison;
  verdict.series = series;
  verdict.verdict = word;
  verdict.ratio = ratio;
  verdict.interval_low = ratio > 0 ? ratio - kHalfWidth : 0;
  verdict.interval_high = ratio > 0 ? ratio + kHalfWidth : 0;
  verdict.baseline_value = 100;
  verdict.candidate_value = candidate_value > 0 ? candidate_value : 100 * ratio;
  verdict.runs = 8;
  REQUIRE(ComparisonStore(*database).add_verdict(verdict));
}

Id EvidenceRows::add_run(const ComparisonRow& comparison, const comparison::Block& block,
                         int position, RunResult result) {
  RunStore runs(*database);
  const auto slot = block.slot(position);
  const bool is_candidate = block.side(position) == comparison::Side::candidate;
  const auto token = "run " + std::to_string(comparison.id) + " " + slot;
  const auto run =
      runs.issue({.owner = {OwnerKind::comparison, comparison.id},
                  .slot = slot,
                  .build = is_candidate ? comparison.candidate : comparison.baseline.value_or(0),
                  .benchmark = block.benchmark,
                  .pass = block.pass},
                 token, ++now)
          .value();
  result.attempt = token;
  result.environment.facts = facts;
  REQUIRE(runs.record({{token, result}}, ++now));
  return run;
}

void EvidenceRows::add_block(const ComparisonRow& comparison, const Benchmark& benchmark,
                             comparison::Stage stage, int index) {
  const comparison::Block block{benchmark, Pass::timing, stage, index};
  for (int i = 0; i < comparison::Block::kRuns; ++i) {
    RunResult result;
    result.samples_ns = {10 * i + 1, 10 * i + 3, 10 * i + 2};
    result.values = {{Metric::time, 10 * i + 2}};
    add_run(comparison, block, i, result);
  }
}

Series series_of(const std::string& workload, Metric metric, Mode mode) {
  return {{workload, {Device::cpu, mode}, {}}, metric};
}
