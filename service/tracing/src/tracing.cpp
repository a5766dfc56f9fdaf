#include "torchwatch/tracing/tracing.hpp"

#include <algorithm>
#include <utility>

#include "ending.hpp"
#include "operator_watch.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/measurement/measurement.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::tracing {
namespace {

using Benchmarks = std::vector<Benchmark>;

/// What waits behind a comparison waits for at most ten runs more.
constexpr std::size_t kBenchmarksMax = 5;

/// The newest profile of a benchmark with a build, if its trace is kept.
Result<std::optional<IncidentTrace>> kept(storage::Database& database, const config::Config& config,
                                          storage::Id build, const Benchmark& benchmark) {
  TW_TRY(const auto runs, storage::EvidenceReader(database).profile_runs_of(build));
  const auto run = std::ranges::find(runs, benchmark, &storage::ProfileRun::benchmark);
  if (run == runs.end()) return std::nullopt;
  auto file = traces::file_of(traces::folder_beside(config.storage.path), run->token);
  const auto bytes = traces::size_of(file);
  if (!bytes) return std::nullopt;
  return IncidentTrace{
      .benchmark = benchmark, .run = run->run, .file = std::move(file), .bytes = *bytes};
}

Benchmarks traced_benchmarks(const std::vector<storage::IncidentRow>& incidents) {
  Benchmarks all;
  for (const auto& incident : incidents) {
    const auto benchmark = traced_benchmark(incident);
    const bool is_new = benchmark && std::ranges::find(all, *benchmark) == all.end();
    if (is_new && all.size() < kBenchmarksMax) all.push_back(*benchmark);
  }
  return all;
}

/// Makes those traces of a build that it lacks.
Status trace_build(comparison::Services& services, const comparison::Plan& plan, storage::Id build,
                   const Benchmarks& wanted, const std::stop_token& stop) {
  Benchmarks lacking;
  for (const auto& benchmark : wanted) {
    TW_TRY(const auto found, kept(services.database, services.config, build, benchmark));
    if (!found) lacking.push_back(benchmark);
  }
  if (lacking.empty()) return {};
  TW_TRY(const auto row, storage::BuildStore(services.database).get(build));
  services.progress.phase_started("tracing " + figures::count(lacking.size(), "benchmark") +
                                  " with " + row.name);
  TW_TRY(const auto observed,
         measurement::observe_build(services, build, plan, lacking, Pass::profile, stop));
  for (const auto& one : observed) {
    if (one.status == RunStatus::ok) continue;
    services.progress.log("there is no trace of " + to_string(one.benchmark) + " with " + row.name +
                          ": " + one.reason);
  }
  return {};
}

}  // namespace

std::optional<Benchmark> traced_benchmark(const storage::IncidentRow& incident) {
  if (incident.kind != IncidentKind::regression) return std::nullopt;
  return operators::slowest_benchmark(incident);
}

Status trace_incidents(comparison::Services& services, const comparison::Comparison& comparison,
                       std::stop_token stop) {
  const auto& row = comparison.row;
  if (!services.config.detect.incident_traces || !row.baseline) return {};
  TW_TRY(const auto incidents, storage::IncidentStore(services.database).of_comparison(row.id));
  const auto benchmarks = traced_benchmarks(incidents);
  for (const auto build : {*row.baseline, row.candidate}) {
    const auto traced = trace_build(services, comparison.plan, build, benchmarks, stop);
    if (traced) continue;
    if (ends_work(traced.error())) return traced;
    services.progress.log("the incidents of comparison " + std::to_string(row.id) +
                          " lack traces: " + traced.error().text());
  }
  const auto watched = watch_operators(services, comparison, incidents, stop);
  if (watched || ends_work(watched.error())) return watched;
  services.progress.log("the incidents of comparison " + std::to_string(row.id) +
                        " lack operators: " + watched.error().text());
  return {};
}

Result<std::vector<IncidentTrace>> kept_of(storage::Database& database,
                                           const config::Config& config,
                                           const storage::IncidentRow& incident) {
  std::vector<IncidentTrace> traces;
  const auto benchmark = traced_benchmark(incident);
  if (!benchmark) return traces;
  TW_TRY(const auto row, storage::ComparisonStore(database).get(incident.comparison));
  if (!row.baseline) return traces;
  for (const auto& [side, build] :
       {std::pair("baseline", *row.baseline), std::pair("candidate", row.candidate)}) {
    TW_TRY(auto found, kept(database, config, build, *benchmark));
    if (!found) continue;
    TW_TRY(const auto of, storage::BuildStore(database).get(build));
    found->side = side;
    found->build = of.name;
    traces.push_back(*std::move(found));
  }
  return traces;
}

std::string text_of(const IncidentTrace& trace) {
  return to_string(trace.benchmark) + " with " + trace.build + ", " + figures::bytes(trace.bytes) +
         ": " + trace.file.string();
}

nlohmann::json json_of(const IncidentTrace& trace) {
  return {{"side", trace.side},
          {"build", trace.build},
          {"run", trace.run},
          {"file", trace.file.string()},
          {"bytes", trace.bytes}};
}

}  // namespace torchwatch::tracing
