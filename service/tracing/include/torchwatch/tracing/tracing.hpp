#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::tracing {

/// Returns the benchmark of an incident whose time grew most; nothing where it is about something
/// else, or nothing ran.
std::optional<Benchmark> traced_benchmark(const storage::IncidentRow&);

/// Has a trace made of each build for the comparison's incidents, one process after the other, and
/// the operators of both watched in pairs (service/operators), but not where that was done or
/// [detect] incident_traces is off. Call it when the comparison is measured. What fails is logged.
/// Errors: cancelled, damaged; of storage, for the incidents.
Status trace_incidents(comparison::Services&, const comparison::Comparison&, std::stop_token stop);

/// A trace of one of an incident's builds.
struct IncidentTrace {
  std::string side = {};   ///< "baseline" or "candidate"
  std::string build = {};  ///< its name
  Benchmark benchmark = {};
  storage::Id run = 0;
  std::filesystem::path file = {};
  std::int64_t bytes = 0;
};

/// Returns the newest kept trace of each build of the incident's comparison, the baseline's first,
/// in traced_benchmark. Errors: of storage.
Result<std::vector<IncidentTrace>> kept_of(storage::Database&, const config::Config&,
                                           const storage::IncidentRow&);

/// "resnet18 cpu-train with 2.14.0.dev20260816, 1.2 MiB: FILE".
std::string text_of(const IncidentTrace&);
nlohmann::json json_of(const IncidentTrace&);

}  // namespace torchwatch::tracing
