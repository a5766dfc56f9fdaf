#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/comparison/slot_runs.hpp"

namespace torchwatch::bisection {

/// What runs of one build read by themselves (ln of the time, bytes), by index of the series.
using Readings = std::map<std::size_t, std::vector<double>>;

/// Interleaved pairs, by index of the series.
struct PairReadings {
  Readings effects;  ///< candidate less reference, pair by pair
  /// The reference's part in it; empty for interleaved pairs, as a run without a partner reads
  /// something else: it has the caches to itself.
  Readings references;
};

/// A side that does not run a benchmark, tried twice.
struct SideFailed {
  bool candidate = true;  ///< else the reference
  std::vector<std::size_t> series;
  std::string reason;
};

/// Measures a bisection's series in fresh processes: pairs (reference, candidate), or one build
/// alone. Runs that an earlier process of the service stored under the same slots are not made
/// again.
class BisectionMeasurer {
 public:
  BisectionMeasurer(comparison::Services& services, storage::Owner owner, const BisectionSpec& spec)
      : config_(services.config),
        recorder_(services, owner),
        spec_(spec),
        progress_(services.progress) {}

  Status load_past_runs();
  /// As RunRecorder::free_slots.
  Status free_slots();

  /// `name` is unique to this measurement within the search.
  Result<std::variant<PairReadings, SideFailed>> measure_pairs(
      const std::string& name, comparison::MeasurableBuild candidate,
      comparison::MeasurableBuild reference, const std::vector<std::size_t>& all_series, int pairs,
      std::stop_token stop);

  /// Runs of the candidate without a partner, in the same manner as beside `partner`.
  Result<std::variant<Readings, SideFailed>> measure_build(
      const std::string& name, comparison::MeasurableBuild candidate,
      comparison::MeasurableBuild partner, const std::vector<std::size_t>& all_series, int runs,
      std::stop_token stop);

  /// What differs between the environments of the search's runs so far; empty if nothing does.
  /// Only then can runs be compared with others than their partners.
  const std::string& machine_change() const { return machine_change_; }

 private:
  /// The series that one process measures together.
  struct Group {
    Benchmark benchmark;
    Pass pass = Pass::timing;
    std::vector<std::size_t> series;
  };
  std::vector<Group> groups(const std::vector<std::size_t>& all_series) const;
  Result<comparison::MachineRun> run(const comparison::RunSlot&, const Group&, std::stop_token);
  Status run_interleaved(const std::array<comparison::RunSlot, 2>&, const Group&, std::stop_token);
  Result<std::array<comparison::MachineRun, 2>> run_pair(const std::array<comparison::RunSlot, 2>&,
                                                         const Group&, std::stop_token);
  Result<std::array<comparison::MachineRun, 2>> run_pair_on_one_machine(
      std::array<comparison::RunSlot, 2>, const Group&, std::stop_token);
  void note(const comparison::MachineRun&);
  std::string slot(const std::string& name, const Group&, int number) const;
  std::optional<std::string> trouble(const Group&, const comparison::MachineRun&) const;
  double reading(const comparison::MachineRun&, std::size_t series) const;
  void add_pair(const Group&, const comparison::MachineRun& candidate,
                const comparison::MachineRun& reference, PairReadings&) const;

  const config::Config& config_;
  comparison::RunRecorder recorder_;
  const BisectionSpec& spec_;
  comparison::Progress& progress_;
  comparison::SlotRuns runs_;
  std::map<std::pair<Benchmark, Pass>, std::string> machines_;  ///< of the first run of each kind
  std::string machine_change_;
};

}  // namespace torchwatch::bisection
