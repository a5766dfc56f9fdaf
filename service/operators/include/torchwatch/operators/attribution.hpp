#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/operators/operator_changes.hpp"
#include "torchwatch/runs/operator_runs.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::operators {

/// Returns the benchmark of an incident whose time grew most, or that of the operator whose time
/// did; nothing where no time did.
std::optional<Benchmark> slowest_benchmark(const storage::IncidentRow&);

/// Returns the benchmark in which an incident's operators are watched: the slowest of those on a
/// CPU or, where no time grew, that whose allocator's peak or leak grew most; nothing where the
/// incident is about something else.
std::optional<Benchmark> watched_benchmark(const storage::IncidentRow&);

/// How many pairs an incident is worth: bytes are exact.
int pairs_worth(const storage::IncidentRow&);

/// The slot of a run that watches the operators, in the incident's comparison. `side`: "baseline"
/// or "candidate".
std::string slot_of(const Benchmark&, int pair, const std::string& side);

/// How the slots begin in which operators are watched, of all benchmarks.
std::string slots_of_all();

/// Returns the pairs that runs in those slots make, as far as both runs of each are there.
WatchedPairs pairs_of(const Benchmark&, const std::vector<storage::OperatorRun>&);

/// What operators take before and after an incident.
struct Attribution {
  Benchmark benchmark = {};
  int pairs = 0;
  double iteration_ns = 0;  ///< before, without watching
  double watched_ns = 0;    ///< before, with it
  std::vector<Change> changes = {};
};

/// Returns what the runs of an incident's comparison say; nothing where its operators were not
/// watched. Errors: of storage.
Result<std::optional<Attribution>> attribution_of(storage::Database&, const storage::IncidentRow&);

/// "aten::gelu takes +38.0 %, +380 µs [+370 µs, +390 µs], of an iteration of 2 ms. No other
/// operator differs certainly by 1 % of it." Never empty; one line, without the benchmark.
std::string text_of(const Attribution&);
/// The same behind the benchmark: "resnet18 cpu-train: aten::gelu takes ...".
std::string text_with_benchmark(const Attribution&);
nlohmann::json json_of(const Attribution&);

}  // namespace torchwatch::operators
