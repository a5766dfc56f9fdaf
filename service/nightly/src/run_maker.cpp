#include "torchwatch/nightly/run_maker.hpp"

#include <optional>

#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/executor/library_placement.hpp"

namespace torchwatch::nightly {
namespace {

/// A workload that says itself that it failed leaves its slot open for a second attempt, as one
/// that crashed does.
std::optional<executor::RunFailure> failure_of(const executor::RunOutcome& outcome) {
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) return *failure;
  const auto& result = std::get<protocol::RunResult>(outcome);
  if (result.status != RunStatus::failed) return std::nullopt;
  return executor::RunFailure{result.reason, {}};
}

}  // namespace

bool is_of_machine(const std::string& fact) {
  return !fact.starts_with("build.");
}

std::string machine_of(const Environment& environment) {
  std::string lines;
  for (const auto& [name, value] : environment.facts) {
    if (is_of_machine(name)) lines += name + ": " + value + "\n";
  }
  return lines;
}

Status decide_placement(const config::Config& config, Subject& a, Subject& b) {
  a.place_libraries = b.place_libraries = false;
  if (!config.measure.place_libraries) return {};
  TW_TRY(const bool differ,
         executor::needs_placement(a.tree.folder / "lib", b.tree.folder / "lib"));
  a.place_libraries = b.place_libraries = differ;
  return {};
}

Result<std::string> RunMaker::machine(const std::string& environment_digest) {
  if (environment_digest.empty()) return std::string{};
  const auto known = machines_.find(environment_digest);
  if (known != machines_.end()) return known->second;
  TW_TRY(const auto environment, store_.environment(environment_digest));
  return machines_[environment_digest] = machine_of(environment);
}

Result<std::vector<MachineRun>> RunMaker::past_runs() {
  TW_TRY(auto rows, store_.runs_of(owner_));
  std::vector<MachineRun> runs;
  for (auto& row : rows) {
    TW_TRY(auto name, machine(row.environment_digest));
    runs.push_back(MachineRun{std::move(row), std::move(name)});
  }
  return runs;
}

Result<MachineRun> RunMaker::make(const std::string& slot, const Subject& subject, const Plan& plan,
                                  const Cell& cell, Pass pass, std::stop_token stop) {
  const storage::AttemptOrder order{owner_, slot, subject.build, cell, pass};
  const auto token = workshop_.random.token();
  TW_TRY(const auto attempt, store_.issued(order, token, workshop_.clock.wall_now()));

  executor::RunOrder run;
  run.request = request_for(plan, cell, pass);
  run.request.attempt = token;
  run.runner = subject.kit.runner;
  run.libraries = subject.tree.folder / "lib";
  std::optional<executor::PlacedLibraries> placed;
  if (subject.place_libraries) {
    TW_TRY(placed, executor::place(run.libraries, workshop_.config.executor.scratch));
    run.libraries = placed->folder();
  }
  TW_TRY(const auto id, workshop_.executor.submit(run));
  TW_TRY(const auto outcome, workshop_.executor.wait(id, stop));

  TW_TRY(auto made, record(order, attempt, token, outcome));
  TW_TRY_VOID(doors::failpoint("nightly.after_run_stored"));
  return made;
}

Result<MachineRun> RunMaker::record(const storage::AttemptOrder& order, storage::Id attempt,
                                    const std::string& token, const executor::RunOutcome& outcome) {
  MachineRun made;
  made.row.attempt = attempt;
  made.row.slot = order.slot;
  made.row.build = order.build;
  made.row.cell = order.cell;
  made.row.pass = order.pass;
  const auto now = workshop_.clock.wall_now();
  if (const auto failure = failure_of(outcome)) {
    TW_TRY_VOID(store_.failed(token, failure->reason, failure->output, now));
    made.row.status = RunStatus::failed;
    made.row.reason = failure->reason;
    return made;
  }
  const auto& result = std::get<protocol::RunResult>(outcome);
  TW_TRY_VOID(store_.finished(token, result, now));
  made.row.status = result.status;
  made.row.reason = result.reason;
  made.row.values = result.values;
  made.machine = machine_of(result.environment);
  return made;
}

}  // namespace torchwatch::nightly
