#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

// Runs and machines as people look at them; the pipeline reads RunStore.

/// Machines that differ in nothing but kernel, drivers and settings: what a series belongs to.
struct MachineClass {
  Id id = 0;
  std::string name = {};                          ///< "Model X, 64 cores, H100"
  std::map<std::string, std::string> facts = {};  ///< that its machines share
};

/// An attempt with what became of it.
struct RunDetail {
  Id attempt = 0;
  Owner owner;
  std::string slot;
  Id build = 0;
  Benchmark benchmark;
  Pass pass = Pass::timing;
  AttemptState state = AttemptState::issued;
  std::optional<RunStatus> status;  ///< of its result; none without one
  std::string reason;
  WallMillis issued_at = 0;
  WallMillis ended_at = 0;
  std::optional<std::int64_t> iterations_per_sample;
  std::optional<Id> machine;
  std::optional<MachineClass> machine_class = {};
  std::string node = {};    ///< of a cluster; empty: the service's own machine
  bool is_thinned = false;  ///< its samples were removed for their age
  std::map<Metric, std::int64_t> values = {};
};

/// What runs state, by metric and run.
using ValuesOfRuns = std::map<Metric, std::map<Id, std::int64_t>>;

/// What a list of runs is narrowed down to.
struct RunFilter {
  std::optional<std::string> workload = {};
  std::optional<std::string> configuration = {};
  std::optional<std::string> variant = {};
  std::optional<std::string> pass = {};
  std::optional<std::string> state = {};
};

/// The samples of one kind that a run left: all of them, or what is kept of thinned ones.
struct SampleSet {
  std::string kind;  ///< wall_ns, device_ns, live_bytes or heap_bytes
  std::string digest;
  std::int64_t count = 0;
  bool is_thinned = false;
  std::vector<std::int64_t> samples = {};  ///< empty if thinned
  std::int64_t median = 0;
  std::int64_t spread = 0;  ///< the interquartile range
};

/// What runs were measured on.
struct MachineRow {
  Id id = 0;
  std::map<std::string, std::string> facts = {};  ///< about processor, system and GPU
  std::int64_t runs = 0;
  WallMillis first_run_at = 0;
  WallMillis last_run_at = 0;
  std::optional<MachineClass> machine_class = {};
};

/// Reads runs, their samples and their machines. Thread-safe as Database is.
class RunReader {
 public:
  explicit RunReader(Database& database) : database_(database) {}

  /// Returns at most `limit` runs of an owner with an id below `before`, newest first.
  Result<std::vector<RunDetail>> list(Owner, const RunFilter&, int limit, Id before);
  Result<RunDetail> get(Id attempt);  ///< Errors: not_found
  /// Returns every value that those runs state; a metric that none of them states is not there.
  Result<ValuesOfRuns> values_of(const std::vector<Id>& runs);
  /// Returns the end of what the last failed process of a benchmark printed, of those that printed
  /// something; empty where none did, and where it was removed for its age.
  Result<std::string> output_of(Owner, Id build, const Benchmark&);
  /// Returns the samples of a run by kind, checked against their digests. Errors: corrupt.
  Result<std::vector<SampleSet>> samples_of(Id attempt);

  Result<std::vector<MachineRow>> machines();  ///< newest first
  Result<MachineRow> machine(Id);              ///< Errors: not_found

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
