#include "drawn.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const Benchmark kResnet{"resnet18", {Device::cpu, Mode::train}, {}};
const Benchmark kResnetInfer{"resnet18", {Device::cpu, Mode::infer}, {}};
const Benchmark kResnetOnGpu{"resnet18", {Device::cuda, Mode::train}, {}};
const Series kTime{kResnet, Metric::time};
const Series kPeak{kResnet, Metric::cpu_peak};

}  // namespace

const std::vector<std::string> Drawn::kMorePages{
    "/comparisons/1?metric=cpu_peak",
    "/comparisons/2",
    "/comparisons/2?metric=cpu_peak",
    "/incidents/2",
    "/bisections/2",
    "/gpu?build=2",
    "/machines/compare",
    "/series/resnet18/cpu-train/default/time?show=changes",
    "/series/resnet18/cpu-train/default/cpu_peak"};

Drawn::Drawn() {
  fill();
  add_exact_verdict();
  add_incident_of_two();
  add_second_nightly();
  add_memory(1, {64, 64, 64, 64});
  add_memory(2, {64, 128, 192, 256});
  add_profile(1, {.active_ns = 72, .copy_ns = 8, .idle_ns = 20});
  add_profile(2, {.active_ns = 61, .copy_ns = 9, .idle_ns = 30});
  add_steps();
  add_second_class();
}

void Drawn::add_exact_verdict() {
  VerdictRow row;
  row.comparison = 1;
  row.series = kPeak;
  row.verdict = Verdict::regressed;
  row.ratio = row.interval_low = row.interval_high = 1.03;
  row.baseline_value = 4'000;
  row.candidate_value = 4'120;
  REQUIRE(ComparisonStore(*database).add_verdict(row));
}

void Drawn::add_incident_of_two() {
  IncidentRow row;
  row.comparison = 1;
  row.key = "two";
  row.title = "two series";
  row.series = {{kTime, 1.15, 1.13, 1.17, 2e6, 2.3e6}, {kPeak, 1.03, 1.03, 1.03, 4'000, 4'120}};
  REQUIRE(IncidentStore(*database).open(row).value().id == 2);
}

void Drawn::add_second_nightly() {
  constexpr WallMillis kDay = 24LL * 60 * 60 * 1000;
  BuildStore builds(*database);
  auto build = builds.discover(BuildOrigin::nightly, "2.14.0.dev20260818").value();
  build.version = "2.14.0";
  build.trunk_commit = "c0ffee";
  build.content_hash = "hash of the third";
  build.folder = "/builds/third";
  REQUIRE(builds.mark_ready(build).value().id == 3);
  ComparisonStore comparisons(*database);
  const auto comparison =
      comparisons.open({Purpose::nightly, build.id, 2}, clock.wall_now() + kDay).value();
  VerdictRow row;
  row.comparison = comparison.id;
  row.series = kTime;
  row.verdict = Verdict::unchanged;
  row.ratio = 0.98;
  row.interval_low = 0.97;
  row.interval_high = 0.99;
  row.baseline_value = 2.3e6;
  row.candidate_value = 2.254e6;
  row.runs = 24;
  REQUIRE(comparisons.add_verdict(row));
  row.series = kPeak;
  row.verdict = Verdict::improved;
  row.ratio = row.interval_low = row.interval_high = 0.9;
  row.baseline_value = 4'120;
  row.candidate_value = 3'708;
  REQUIRE(comparisons.add_verdict(row));
}

void Drawn::add_result(NewAttempt run, RunResult result) {
  RunStore runs(*database);
  result.attempt = std::string(to_string(run.pass)) + " of build " + std::to_string(run.build);
  result.environment.facts = {{"cpu_model", "Model X"}};
  REQUIRE(runs.issue(run, result.attempt, 1));
  REQUIRE(runs.record({{result.attempt, result}}, 2));
}

void Drawn::add_memory(Id build, std::vector<std::int64_t> live) {
  RunResult result;
  const auto growth = live[1] - live[0];
  result.values = {{Metric::leak_growth, growth}, {Metric::cpu_peak, 4'000 + growth}};
  result.leak = LeakFigures{.growth_bytes_per_iteration = growth, .live_bytes = std::move(live)};
  add_result({.owner = {OwnerKind::comparison, 1},
              .slot = "memory of build " + std::to_string(build),
              .build = build,
              .benchmark = kResnet,
              .pass = Pass::memory},
             result);
}

void Drawn::add_second_class() {
  const auto measurement =
      ComparisonStore(*database).open({.purpose = Purpose::measurement, .candidate = 3}, 1).value();
  for (const std::int64_t microsecond : {10, 11, 12, 13}) {
    add_time(measurement.id, "Model X", microsecond * 1'000);
    add_time(measurement.id, "Model Y", microsecond * 600);
  }
}

void Drawn::add_time(Id measurement, const std::string& processor, std::int64_t nanoseconds) {
  RunStore runs(*database);
  RunResult result;
  result.attempt = "alone/" + processor + "/" + std::to_string(nanoseconds);
  result.values = {{Metric::time, nanoseconds}};
  result.environment.facts = {{"cpu_model", processor}, {"cpus", "2"}};
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, measurement},
                      .slot = result.attempt,
                      .build = 3,
                      .benchmark = kResnetInfer,
                      .pass = Pass::timing},
                     result.attempt, 1));
  REQUIRE(runs.record({{result.attempt, result}}, 2));
}

void Drawn::add_profile(Id build, Breakdown breakdown) {
  RunResult result;
  result.breakdown = breakdown;
  const auto measurement = ComparisonStore(*database)
                               .open({.purpose = Purpose::measurement, .candidate = build}, 1)
                               .value();
  add_result({.owner = {OwnerKind::comparison, measurement.id},
              .slot = "alone/profile/" + to_string(kResnetOnGpu) + "/0",
              .build = build,
              .benchmark = kResnetOnGpu,
              .pass = Pass::profile},
             result);
}

Id add_search_of_one_step(Database& database, const Series& series, std::optional<Id> incident) {
  bisection::BisectionSpec spec;
  spec.good = "aaaa";
  spec.bad = "bbbb";
  spec.series = {{.series = series}};
  BisectionStore searches(database);
  BisectionRow row;
  row.incident = incident;
  row.good = spec.good;
  row.bad = spec.bad;
  row.spec_json = to_json(spec);
  row.created_at = 1;
  row = searches.open(row).value();
  REQUIRE(searches.append(row.id, {0, "built", R"({"candidate": 0, "commit": "cccc"})"}));
  const std::string measured = R"({"candidate": 0, "reference": null, "purpose": "probe",
      "effects": {"0": [0.1]}, "references": {}, "posterior": [0.75, 0.25]})";
  REQUIRE(searches.append(row.id, {1, "measured", measured}));
  return row.id;
}

void Drawn::add_steps() {
  const auto search = add_search_of_one_step(*database, kTime, 2);
  REQUIRE(IncidentStore(*database).attach_bisection(2, search));
  add_probe(search, "cccc", "first probe of cccc", 12'000'000);
  add_probe(search, "cccc", "second probe of cccc", 12'400'000);
  add_probe(search, "cccc", "third probe of cccc", 15'000'000);
}

void Drawn::add_probe(Id bisection, const std::string& sha, const std::string& slot,
                      std::int64_t nanoseconds) {
  const auto build = BuildStore(*database).discover(BuildOrigin::commit, sha).value();
  RunStore runs(*database);
  RunResult result;
  result.attempt = slot;
  result.values = {{Metric::time, nanoseconds}};
  result.environment.facts = {{"cpu_model", "Model X"}};
  REQUIRE(runs.issue({.owner = {OwnerKind::bisection, bisection},
                      .slot = slot,
                      .build = build.id,
                      .benchmark = kResnet,
                      .pass = Pass::timing},
                     slot, 1));
  REQUIRE(runs.record({{slot, result}}, 2));
}
