#include "torchwatch/nightly/run_maker.hpp"

#include <algorithm>

#include "torchwatch/doors/failpoint.hpp"
#include "torchwatch/executor/library_placement.hpp"

namespace torchwatch::nightly {
namespace {

/// A turn is at least so long, as it begins with caches that are the other's. Turns of 1 ms let
/// pairs of iterations of 0.25 ms scatter by 5.6 %, of 10 ms by 1.3 %, of 20 ms no less
/// (tests/benchmarks/README.md, "A build against itself").
constexpr std::int64_t kTurnNs = 10'000'000;

/// A workload that says itself that it failed leaves its slot open for a second attempt, as one
/// that crashed does.
storage::AttemptEnd end_of(const executor::RunOrder& run, const executor::RunOutcome& outcome) {
  const auto& token = run.request.attempt;
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return {token, storage::AttemptFailure{failure->reason, failure->output}};
  }
  const auto& result = std::get<RunResult>(outcome);
  if (result.status != RunStatus::failed) return {token, result};
  return {token, storage::AttemptFailure{result.reason, {}}};
}

/// A run whose partner failed was not made as the runs that it would be held against.
void fail_together(std::vector<storage::AttemptEnd>& ends) {
  const auto failure = [](const storage::AttemptEnd& end) {
    return std::get_if<storage::AttemptFailure>(&end.how);
  };
  const auto failed = std::ranges::find_if(ends, failure);
  if (failed == ends.end()) return;
  const auto reason = "took turns with a run that failed: " + failure(*failed)->reason;
  for (auto& end : ends) {
    if (!failure(end)) end.how = storage::AttemptFailure{reason, {}};
  }
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

Result<RunMaker::Issued> RunMaker::issue(const RunPlace& place, const Plan& plan, const Cell& cell,
                                         Pass pass) {
  const auto& subject = place.subject;
  Issued issued;
  issued.order = {owner_, place.slot, subject.build, cell, pass};
  const auto token = workshop_.random.token();
  TW_TRY(issued.attempt, store_.issued(issued.order, token, workshop_.clock.wall_now()));
  issued.run.request = request_for(plan, cell, pass);
  issued.run.request.attempt = token;
  issued.run.runner = subject.kit.runner;
  issued.run.libraries = subject.tree.folder / "lib";
  if (subject.place_libraries) {
    TW_TRY(issued.placed, executor::place(issued.run.libraries, workshop_.config.executor.scratch));
    issued.run.libraries = issued.placed->folder();
  }
  return issued;
}

Result<MachineRun> RunMaker::make(const RunPlace& place, const Plan& plan, const Cell& cell,
                                  Pass pass, std::stop_token stop) {
  TW_TRY(const auto issued, issue(place, plan, cell, pass));
  TW_TRY(const auto id, workshop_.executor.submit(issued.run));
  TW_TRY(const auto outcome, workshop_.executor.wait(id, stop));
  const auto end = end_of(issued.run, outcome);
  TW_TRY_VOID(store_.ended({end}, workshop_.clock.wall_now()));
  TW_TRY_VOID(doors::failpoint("nightly.after_run_stored"));
  return made(issued, end);
}

Result<std::array<MachineRun, 2>> RunMaker::make_in_turns(const std::array<RunPlace, 2>& places,
                                                          const Plan& plan, const Cell& cell,
                                                          std::stop_token stop) {
  TW_TRY(auto first, issue(places[0], plan, cell, Pass::timing));
  TW_TRY(auto second, issue(places[1], plan, cell, Pass::timing));
  for (auto* issued : {&first, &second}) {
    issued->run.request.limits.time_ms *= 2;  // each lives through the other's samples as well
    issued->run.request.batch_below_ns = kTurnNs;
  }
  TW_TRY(const auto outcomes, workshop_.executor.run_in_turns({first.run, second.run}, stop));
  std::vector ends{end_of(first.run, outcomes[0]), end_of(second.run, outcomes[1])};
  fail_together(ends);
  TW_TRY_VOID(store_.ended(ends, workshop_.clock.wall_now()));
  TW_TRY_VOID(doors::failpoint("nightly.after_run_stored"));
  return std::array{made(first, ends[0]), made(second, ends[1])};
}

MachineRun RunMaker::made(const Issued& issued, const storage::AttemptEnd& end) {
  MachineRun made;
  made.row.attempt = issued.attempt;
  made.row.slot = issued.order.slot;
  made.row.build = issued.order.build;
  made.row.cell = issued.order.cell;
  made.row.pass = issued.order.pass;
  if (const auto* failure = std::get_if<storage::AttemptFailure>(&end.how)) {
    made.row.status = RunStatus::failed;
    made.row.reason = failure->reason;
    return made;
  }
  const auto& result = std::get<RunResult>(end.how);
  made.row.status = result.status;
  made.row.reason = result.reason;
  made.row.values = result.values;
  made.machine = machine_of(result.environment);
  return made;
}

}  // namespace torchwatch::nightly
