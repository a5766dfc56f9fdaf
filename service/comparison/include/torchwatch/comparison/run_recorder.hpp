#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/comparison/slot_runs.hpp"
#include "torchwatch/documents/setting.hpp"
#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/runs/run_store.hpp"

namespace torchwatch::comparison {

/// A build that can be measured: its libraries and a runner that fits them.
struct MeasurableBuild {
  storage::Id build = 0;
  builds::Tree tree;
  kits::Kit kit;
  /// Every run gets a fresh copy of the library files: their place in the page cache alone changes
  /// times by up to 7 % (executor/library_placement.hpp).
  bool place_libraries = false;
  Setting setting = {};         ///< that its runs are made under
  double planted_slowdown = 0;  ///< by what share its timing runs are slowed down, for a drill
};

/// A run to make: its place in its owner's plan, and the build that it measures.
struct RunSlot {
  std::string slot;
  const MeasurableBuild& measured;
  bool is_baseline = false;  ///< other builds' outputs are compared with those of this one
};

/// How the runs of a block are made.
struct Manner {
  Pass pass = Pass::timing;
  bool is_in_pairs = false;        ///< two by two, interleaved; timing runs, and with operators
  bool watches_operators = false;  ///< profile runs of a CPU: they state operators, and no trace
};

/// A lane's node, on which a run is to take place, and the lock of what its lanes share. The lock
/// is held by who calls; it is open while the run is under way.
struct Place {
  executor::Executor& executor;
  std::string node;
  std::unique_lock<std::mutex>& lock;
  bool is_lost = false;  ///< set: the run did not take place, and may do so elsewhere
};

/// Switches placement on for both builds, unless they load the very same library files. Errors:
/// unavailable (files cannot be read).
Status decide_placement(const config::Config&, MeasurableBuild& a, MeasurableBuild& b);

/// Carries out runs: commits the attempt, runs the process, commits the result. A crash in between
/// loses at most the run in flight. After a run that was killed from outside the next one waits, 5
/// s and twice as long each time up to a minute: what killed it may need that to pass. Eight in
/// a row end the turn: others are attended to meanwhile. All runs of a configured machine class
/// (config::class_of) are of equal machines: one of another kind is refused where there are several
/// machines. Not thread-safe.
class RunRecorder {
 public:
  RunRecorder(Services& services, storage::Owner owner)
      : services_(services), store_(services.database), owner_(owner) {}

  /// Frees the slots whose runs were broken off, as by a full disk. Call while none of the owner's
  /// runs is under way. Errors: of storage.
  Status free_slots();

  /// Returns all runs of the owner that have ended, in order. Errors: of storage.
  Result<std::vector<MachineRun>> past_runs();

  /// Runs one fresh process. A workload that fails is a run with status failed. Errors: of storage,
  /// cancelled, unavailable (no process could be started, or eight in a row were killed from
  /// outside).
  Result<MachineRun> run(const RunSlot&, const Plan& plan, const Benchmark& benchmark, Pass pass,
                         std::stop_token stop, Place* place = nullptr);
  /// Runs an interleaved pair of timing runs; the first one begins. If one fails, the other
  /// measured without a partner and counts as failed, too. Errors: those of run.
  Result<std::array<MachineRun, 2>> run_pair(const std::array<RunSlot, 2>&, const Plan& plan,
                                             const Benchmark& benchmark, std::stop_token stop);
  /// Makes runs one after the other, or two by two as interleaved pairs, and stores all of them or
  /// none. Errors: those of run.
  Result<std::vector<MachineRun>> run_block(const std::vector<RunSlot>&, const Plan& plan,
                                            const Benchmark& benchmark, Manner manner,
                                            std::stop_token stop, Place* place = nullptr);

  /// Whether a run has said what the machines of a configured class are.
  bool knows_class(const std::string& name) const { return classes_.contains(name); }

 private:
  /// A committed attempt and the process to run for it.
  struct Issued {
    storage::NewAttempt row;
    storage::Id attempt = 0;
    executor::RunSpec run;
    std::string machine_class;  ///< as it is configured
    std::string workload;       ///< of an external one: its fingerprint
    /// What becomes of it without a process; empty where one is run.
    std::optional<executor::RunOutcome> without_run = {};
    bool decides_for_both = false;  ///< its partner in a pair would be measured in vain
    std::optional<packages::Package> package = {};  ///< that it runs
  };
  Result<Issued> issue(const RunSlot&, const Plan& plan, const Benchmark& benchmark, Manner,
                       const Place*);
  Status take_package(const MeasurableBuild&, Issued&, std::stop_token stop);
  Status wait_after_kills(std::stop_token stop, Place*);
  template <typename Call>
  auto carry_out(Place*, const Call&);
  Result<std::vector<executor::RunOutcome>> outcomes_of(const std::vector<Issued>&,
                                                        bool is_in_pairs, std::stop_token stop,
                                                        Place*);
  Error lost(const Error&, const std::vector<Issued>&, Place*);
  Status require_class(const std::string& machine_class, const std::vector<executor::RunOutcome>&,
                       Place*);
  void note_class(const std::string& machine_class, const Facts&);
  Facts facts_of(const std::string& machine_class) const;
  void note(bool was_killed) { killed_in_a_row_ = was_killed ? killed_in_a_row_ + 1 : 0; }
  Status compare_outputs(const std::vector<RunSlot>&, const Benchmark&,
                         std::vector<storage::AttemptEnd>&);
  static MachineRun ended(const Issued&, const storage::AttemptEnd&);
  /// A machine that runs were made on.
  struct Machine {
    std::string text;  ///< see MachineRun
    Facts facts;       ///< of its class
  };
  Result<Machine> machine(const std::string& environment_digest);

  Services& services_;
  storage::RunStore store_;
  storage::Owner owner_;
  std::map<std::string, Machine> machines_;  ///< by environment digest
  std::map<std::string, Facts> classes_;     ///< what runs have stated of each configured class
  /// What the baseline's first run of each benchmark computed.
  std::map<Benchmark, std::vector<OutputFigures>> baseline_outputs_;
  int killed_in_a_row_ = 0;
};

}  // namespace torchwatch::comparison
