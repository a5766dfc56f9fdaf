#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/nightly/search_order.hpp"

namespace torchwatch::nightly {

/// What runs of one build read by themselves (ln of the time, bytes), by index of the target.
using Readings = std::map<std::size_t, std::vector<double>>;

/// Interleaved pairs, by index of the target.
struct PairReadings {
  Readings effects;  ///< candidate less reference, pair by pair
  /// The reference's part in it; none where the two took turns, as a run alone reads something
  /// else: its caches are its own.
  Readings references;
};

/// A side that does not run a cell, tried twice.
struct SideFailed {
  bool candidate = true;  ///< else the reference
  std::vector<std::size_t> targets;
  std::string reason;
};

/// Measures a search's targets in fresh processes: pairs (reference, candidate), or one build
/// alone. Runs that an earlier process of the service stored under the same slots are not made
/// again.
class SearchMeasuring {
 public:
  SearchMeasuring(Workshop& workshop, storage::Owner owner, const SearchOrder& order)
      : config_(workshop.config),
        maker_(workshop, owner),
        order_(order),
        progress_(workshop.progress) {}

  Status load_past_runs();

  /// `name` is unique to this measurement within the search.
  Result<std::variant<PairReadings, SideFailed>> measure(const std::string& name, Subject candidate,
                                                         Subject reference,
                                                         const std::vector<std::size_t>& targets,
                                                         int pairs, std::stop_token stop);

  /// Runs of the candidate without a partner, in the same manner as beside `partner`.
  Result<std::variant<Readings, SideFailed>> measure_alone(const std::string& name,
                                                           Subject candidate, Subject partner,
                                                           const std::vector<std::size_t>& targets,
                                                           int runs, std::stop_token stop);

  /// What differs between the environments of the search's runs so far; empty if nothing does.
  /// Only then can runs be held against others than their partners.
  const std::string& machine_change() const { return machine_change_; }

 private:
  /// Targets that one process measures together.
  struct Group {
    Cell cell;
    Pass pass = Pass::timing;
    std::vector<std::size_t> targets;
  };
  std::vector<Group> groups(const std::vector<std::size_t>& targets) const;
  Result<MachineRun> run(const RunPlace&, const Group&, std::stop_token);
  Status run_in_turns(const std::array<RunPlace, 2>&, const Group&, std::stop_token);
  Result<std::array<MachineRun, 2>> run_pair(const std::array<RunPlace, 2>&, const Group&,
                                             std::stop_token);
  void note(const MachineRun&);
  std::string slot(const std::string& name, const Group&, int number) const;
  Result<double> reading(const Group&, const MachineRun&, std::size_t target) const;
  Status add_pair(const Group&, const MachineRun& candidate, const MachineRun& reference,
                  PairReadings&) const;

  const config::Config& config_;
  RunMaker maker_;
  const SearchOrder& order_;
  Progress& progress_;
  struct Past {
    int attempts = 0;
    MachineRun run;
  };
  std::map<std::string, Past> past_;
  std::map<std::pair<Cell, Pass>, std::string> machines_;  ///< of the first run of each kind
  std::string machine_change_;
};

}  // namespace torchwatch::nightly
