#pragma once

#include <string>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/executor/executor.hpp"
#include "torchwatch/packages/package_store.hpp"
#include "torchwatch/runs/run_store.hpp"

namespace torchwatch::comparison {

// What runs come to, with a process and without one.

/// Returns why an external workload cannot be run under a setting and in a variant; empty where it
/// can. It decides itself on what a runner's switches decide for the suite's workloads.
std::string not_taken(const Setting&, const Variant&);

/// Without its attempt, as the partner of a pair ends in the same way.
executor::RunOutcome unsupported(const std::string& reason);

/// What a run comes to whose package was refused, or whose making has failed or answered nonsense.
executor::RunOutcome outcome_without(const Result<packages::Outcome>&);

/// Gives a copy of an outcome to the attempt that asked.
executor::RunOutcome answered(executor::RunOutcome, const std::string& token);

/// States what making a package took beside the figures of a run of it.
void add_compilation(const packages::Package&, Pass, executor::RunOutcome&);

bool is_killed(const executor::RunOutcome&);

/// What is stored of a run. A workload that reports its failure leaves its slot open for a second
/// attempt, like one that crashed. `workload`: the fingerprint of an external one.
storage::AttemptEnd end_of(const executor::RunSpec&, const executor::RunOutcome&,
                           const std::string& workload);

/// Fails both runs of a pair if one failed: its partner did not measure under the conditions of
/// other runs.
void fail_together(storage::AttemptEnd& one, storage::AttemptEnd& other);

}  // namespace torchwatch::comparison
