#pragma once

#include <memory>

#include "memory_folder.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::storage {

/// A writer on one database file, with every store.
struct Stores {
  explicit Stores(std::unique_ptr<Database> opened) : database(std::move(opened)) {}
  explicit Stores(const std::filesystem::path& path)
      : Stores(Database::open({path, "", false}).value()) {}

  std::unique_ptr<Database> database;
  BuildStore builds{*database};
  ComparisonStore comparisons{*database};
  RunStore runs{*database};
  IncidentStore incidents{*database};
  OutboxStore outbox{*database};
  BisectionStore bisections{*database};
  RequestStore requests{*database};
};

/// The same on a new file.
struct FreshStores {
  test::MemoryFolder folder;
  std::filesystem::path path = folder.path() / "torchwatch.sqlite";
  Stores stores{path};
};

inline const Benchmark kBenchmark{"resnet18", {Device::cpu, Mode::train}, {}};
inline const Series kTime{kBenchmark, Metric::time};

inline BuildRow ready_build(BuildStore& builds, const std::string& name,
                            const std::string& content_hash) {
  auto row = builds.discover(BuildOrigin::nightly, name).value();
  row.version = "2.13.0";
  row.trunk_commit = "c0ffee";
  row.content_hash = content_hash;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value();
}

inline ComparisonRow comparison_of_two(Stores& stores) {
  const auto baseline = ready_build(stores.builds, "n1", "h1");
  const auto candidate = ready_build(stores.builds, "n2", "h2");
  return stores.comparisons.open({Purpose::nightly, candidate.id, baseline.id}, 1000).value();
}

inline NewAttempt order_of(const ComparisonRow& comparison, const std::string& slot) {
  return {
      {OwnerKind::comparison, comparison.id}, slot, comparison.candidate, kBenchmark, Pass::timing};
}

/// Returns a result with a value in every member.
inline RunResult full_result(const std::string& attempt) {
  RunResult result;
  result.attempt = attempt;
  result.samples_ns = {1, -2, INT64_MAX, INT64_MIN, 300};
  result.device_samples_ns = {7, 8};
  result.iterations_per_sample = 4;
  result.values = {{Metric::time, 100},
                   {Metric::cpu_peak, 5 << 20},
                   {Metric::first_iteration, 900},
                   {Metric::throughput, 40'000'000}};
  result.leak = LeakFigures{64, -1, {10, 20, 30}, {-4, 5}};
  result.breakdown = Breakdown{5, 6, 7};
  result.breakdown_reason = "as \"quoted\"";
  result.operators = {{"aten::add", 3}, {"aten::mm", 9}};
  result.operator_figures = {
      {"aten::mm", {.calls = 9, .self_ns = 700, .allocated_bytes = 64, .kept_bytes = -8}}};
  result.environment.facts = {{"cpu", "Model X"}, {"threads", "2"}};
  result.environment.volatile_facts = {{"load", 12}, {"major_faults", 0}};
  return result;
}

inline IncidentRow incident_of(const ComparisonRow& comparison, const std::string& key) {
  IncidentRow row;
  row.comparison = comparison.id;
  row.key = key;
  row.title = "resnet18 is slower";
  row.series = {{kTime, 1.15, 1.12, 1.18, 100, 115},
                {{kBenchmark, Metric::cpu_peak}, 1, 1, 1, 5, 5}};
  row.opened_at = 2000;
  return row;
}

inline OutboxRow message_of(const IncidentRow& incident, const std::string& key, OutboxKind kind) {
  OutboxRow row;
  row.key = key;
  row.incident = incident.id;
  row.kind = kind;
  row.title = "title of " + key;
  row.body = "body of " + key;
  return row;
}

/// A message that says nothing but its key.
inline OutboxRow message_of(const std::string& key) {
  OutboxRow row;
  row.key = key;
  row.title = "title of " + key;
  return row;
}

}  // namespace torchwatch::storage
