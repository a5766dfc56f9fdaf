#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/documents/vocabulary_json.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::comparison {

/// What a comparison measures. It is stored (ComparisonRow::plan_json) when the comparison becomes
/// ready, so that a restart with a changed configuration continues the comparison as it was begun.
struct Plan {
  Preset preset = Preset::small;
  std::vector<Benchmark> benchmarks;
  std::vector<Pass> passes{Pass::timing, Pass::memory};
  int threads = 1;
  int warmup = 5;
  int iterations = 30;
  std::int64_t enough_ns = 500'000'000;
  std::int64_t time_limit_ms = 300'000;
  std::int64_t memory_limit_bytes = 0;
  bool interleave = false;  ///< timing runs on a CPU are interleaved pairs
  /// By what share a drill slows down timing runs of the candidate on purpose.
  double planted_slowdown = 0;
  bool outputs = false;  ///< what the suite's own workloads compute is compared, too
  /// The metrics that each external workload states. All others state those of their device.
  std::map<std::string, std::vector<Metric>> stated = {};
  /// How many operators of the suite were looked at for suspects; 0: they were not. The benchmarks
  /// of suspects are in `benchmarks`, behind all others.
  int watched_operators = 0;

  bool operator==(const Plan&) const = default;
};

/// Writes none of `planted_slowdown`, `outputs`, `stated` and `watched_operators` where there is
/// none, as before there were any.
void to_json(nlohmann::json&, const Plan&);
void from_json(const nlohmann::json&, Plan&);

/// Returns the metrics that a run of the benchmark in that pass states.
std::vector<Metric> metrics_of(const Plan&, const Benchmark&, Pass);
/// Returns whether the benchmark is measured in that pass: external workloads may state nothing of
/// it, and an operator is timed alone.
bool has_pass(const Plan&, const Benchmark&, Pass);

/// Returns the number of series that the plan judges: the metrics of each benchmark's device, and
/// the operators that were looked at for suspects.
int series_count(const Plan&);

/// Returns the names of the plan's workloads, each once, in order.
std::vector<std::string> workloads_of(const Plan&);

std::string to_json(const Plan&);
/// Reads a stored plan. Errors: corrupt.
Result<Plan> parse_plan(std::string_view json);

}  // namespace torchwatch::comparison
