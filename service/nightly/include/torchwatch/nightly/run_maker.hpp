#pragma once

#include <array>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::nightly {

/// A build that can be measured: its libraries and a runner that fits them.
struct Subject {
  storage::Id build = 0;
  builds::Tree tree;
  builds::Kit kit;
  /// Every run gets a fresh copy of the library files, as where they lie in the page cache alone
  /// makes up to 7 % (releases.md section 3).
  bool place_libraries = false;
};

/// Which run of its owner, and of which build.
struct RunPlace {
  std::string slot;
  const Subject& subject;
};

/// Turns placement on for both sides unless they load the very same libraries anyway.
Status decide_placement(const config::Config&, Subject& a, Subject& b);

/// A run that has ended and what it ran on.
struct MachineRun {
  storage::RunRow row;
  std::string machine;  ///< lines "name: value"; equal for comparable runs
};

/// Whether a fact of an environment describes the machine: all but those of the build itself (names
/// beginning "build.").
bool is_of_machine(const std::string& fact);

/// The facts that must be equal for two runs to be compared: those of the machine.
std::string machine_of(const Environment&);

/// Carries out runs: the attempt is committed, the process runs, the result is committed. A crash
/// between any two of these loses at most the run in flight.
class RunMaker {
 public:
  RunMaker(Workshop& workshop, storage::Owner owner)
      : workshop_(workshop), store_(workshop.database), owner_(owner) {}

  /// All runs of the owner that have ended, in order.
  Result<std::vector<MachineRun>> past_runs();

  /// One fresh process. A workload that fails is a run with status failed. Errors: of storage,
  /// cancelled, unavailable (no process could be started).
  Result<MachineRun> make(const RunPlace&, const Plan& plan, const Cell& cell, Pass pass,
                          std::stop_token stop);
  /// Two timing runs that take turns, the first of them first. They end together: when one fails,
  /// the other, which went on alone, has failed as well. Errors: as make.
  Result<std::array<MachineRun, 2>> make_in_turns(const std::array<RunPlace, 2>&, const Plan& plan,
                                                  const Cell& cell, std::stop_token stop);

 private:
  /// An attempt that is committed and what it shall run.
  struct Issued {
    storage::AttemptOrder order;
    storage::Id attempt = 0;
    executor::RunOrder run;
    std::optional<executor::PlacedLibraries> placed;
  };
  Result<Issued> issue(const RunPlace&, const Plan& plan, const Cell& cell, Pass pass);
  static MachineRun made(const Issued&, const storage::AttemptEnd&);
  Result<std::string> machine(const std::string& environment_digest);

  Workshop& workshop_;
  storage::RunStore store_;
  storage::Owner owner_;
  std::map<std::string, std::string> machines_;  ///< by environment digest
};

}  // namespace torchwatch::nightly
