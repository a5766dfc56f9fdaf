#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/nightly/search_order.hpp"

namespace torchwatch::nightly {

/// Effects of interleaved pairs, by index of the target.
using PairEffects = std::map<std::size_t, std::vector<double>>;

/// A side that does not run a cell, tried twice.
struct SideFailed {
  bool candidate = true;  ///< else the reference
  std::vector<std::size_t> targets;
  std::string reason;
};

/// Measures pairs (reference, candidate) for a search's targets in fresh processes. Runs that an
/// earlier process of the service stored under the same slots are not made again.
class PairMeasuring {
 public:
  PairMeasuring(Workshop& workshop, storage::Owner owner, const SearchOrder& order)
      : config_(workshop.config),
        maker_(workshop, owner),
        order_(order),
        progress_(workshop.progress) {}

  Status load_past_runs();

  /// `name` is unique to this measurement within the search.
  Result<std::variant<PairEffects, SideFailed>> measure(const std::string& name, Subject candidate,
                                                        Subject reference,
                                                        const std::vector<std::size_t>& targets,
                                                        int pairs, std::stop_token stop);

 private:
  /// Targets that one process measures together.
  struct Group {
    Cell cell;
    Pass pass = Pass::timing;
    std::vector<std::size_t> targets;
  };
  std::vector<Group> groups(const std::vector<std::size_t>& targets) const;
  Result<MachineRun> run(const std::string& slot, const Subject&, const Group&, std::stop_token);
  Status add_effects(const Group&, const MachineRun& candidate, const MachineRun& reference,
                     PairEffects&) const;

  const config::Config& config_;
  RunMaker maker_;
  const SearchOrder& order_;
  Progress& progress_;
  struct Past {
    int attempts = 0;
    MachineRun run;
  };
  std::map<std::string, Past> past_;
};

}  // namespace torchwatch::nightly
