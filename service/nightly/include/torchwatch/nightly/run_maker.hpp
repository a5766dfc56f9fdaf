#pragma once

#include <map>
#include <stop_token>
#include <string>

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
  Result<MachineRun> make(const std::string& slot, const Subject& subject, const Plan& plan,
                          const Cell& cell, Pass pass, std::stop_token stop);

 private:
  Result<MachineRun> record(const storage::AttemptOrder&, storage::Id attempt,
                            const std::string& token, const executor::RunOutcome&);
  Result<std::string> machine(const std::string& environment_digest);

  Workshop& workshop_;
  storage::RunStore store_;
  storage::Owner owner_;
  std::map<std::string, std::string> machines_;  ///< by environment digest
};

}  // namespace torchwatch::nightly
