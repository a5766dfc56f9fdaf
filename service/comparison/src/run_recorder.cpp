#include "torchwatch/comparison/run_recorder.hpp"

#include <algorithm>

#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/executor/library_placement.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/machine_facts.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::comparison {
namespace {

/// The least length of an interleaved sample, as each one begins with the partner's data in the
/// caches. Pairs of iterations of 0.25 ms scatter by 5.6 % with samples of 1 ms, by 1.3 % with
/// samples of 10 ms, and by no less with 20 ms (docs/measuring.md, "Interleaved pairs").
constexpr std::int64_t kInterleavedSampleNs = 10'000'000;

constexpr std::chrono::seconds kPauseMin{5};
constexpr std::chrono::seconds kPauseMax{60};
/// The pauses before as many kills in a row add up to about four minutes.
constexpr int kKillsMax = 8;

std::chrono::seconds pause_after(int kills) {
  constexpr int kDoublingsMax = 4;
  return std::min(kPauseMin * (1 << std::min(kills - 1, kDoublingsMax)), kPauseMax);
}

/// Sets the switches of the runner.
void apply(const Setting& setting, protocol::Request& request) {
  request.fixed_heap = setting.fixed_heap.value_or(request.fixed_heap);
  request.zero_gradients = setting.zeroes_gradients.value_or(request.zero_gradients);
  request.flush_denormals = setting.flushes_denormals.value_or(request.flush_denormals);
}

/// Returns why an external workload cannot be run under a setting; empty where it can. It decides
/// itself on what a runner's switches decide for the suite's workloads.
std::string not_taken(const Setting& setting) {
  std::string switches;
  const auto add = [&](bool is_set, const char* name) {
    if (is_set) switches += (switches.empty() ? "" : ", ") + std::string(name);
  };
  add(setting.fixed_heap.has_value(), "heap=");
  add(setting.flushes_denormals.has_value(), "denormals=");
  add(setting.zeroes_gradients.has_value(), "gradients=");
  return switches.empty() ? "" : "an external workload has no switch for " + switches;
}

executor::RunOutcome unsupported(const std::string& token, const std::string& reason) {
  RunResult result;
  result.attempt = token;
  result.status = RunStatus::unsupported;
  result.reason = reason;
  return result;
}

bool is_killed(const executor::RunOutcome& outcome) {
  const auto* failure = std::get_if<executor::RunFailure>(&outcome);
  return failure != nullptr && failure->is_killed;
}

/// Returns the external workload that a benchmark is of; null for one of the suite's own. Errors:
/// invalid, when the configuration has it no more.
Result<const config::ExternalWorkload*> external_of(const config::Config& config, const Plan& plan,
                                                    const Benchmark& benchmark) {
  const auto* external = external_workload(config, benchmark.workload);
  if (external != nullptr || !plan.stated.contains(benchmark.workload)) return external;
  return fail(ErrorCode::invalid,
              "workload \"" + benchmark.workload + "\" is external, and no [[suite.external]] is " +
                  "called so any more",
              "put it back, or ask for the comparison anew");
}

/// A workload that reports its failure leaves its slot open for a second attempt, like one that
/// crashed.
storage::AttemptEnd end_of(const executor::RunSpec& run, const executor::RunOutcome& outcome,
                           const std::string& workload) {
  const auto& token = run.request.attempt;
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return {token, storage::AttemptFailure{failure->reason, failure->output}};
  }
  auto result = std::get<RunResult>(outcome);
  if (!workload.empty()) result.environment.facts["workload"] = workload;
  if (result.status != RunStatus::failed) return {token, std::move(result)};
  return {token, storage::AttemptFailure{result.reason, {}}};
}

/// Fails both runs if one failed: its partner did not measure under the conditions of other runs.
void fail_together(std::vector<storage::AttemptEnd>& ends) {
  const auto failure = [](const storage::AttemptEnd& end) {
    return std::get_if<storage::AttemptFailure>(&end.how);
  };
  const auto failed = std::ranges::find_if(ends, failure);
  if (failed == ends.end()) return;
  const auto reason = "interleaved with a run that failed: " + failure(*failed)->reason;
  for (auto& end : ends) {
    if (!failure(end)) end.how = storage::AttemptFailure{reason, {}};
  }
}

}  // namespace

Status decide_placement(const config::Config& config, MeasurableBuild& a, MeasurableBuild& b) {
  a.place_libraries = b.place_libraries = false;
  if (!config.measure.place_libraries) return {};
  TW_TRY(const bool differ,
         executor::needs_placement(a.tree.folder / "lib", b.tree.folder / "lib"));
  a.place_libraries = b.place_libraries = differ;
  return {};
}

Result<std::string> RunRecorder::machine(const std::string& environment_digest) {
  if (environment_digest.empty()) return std::string{};
  const auto known = machines_.find(environment_digest);
  if (known != machines_.end()) return known->second;
  TW_TRY(const auto environment, store_.environment(environment_digest));
  class_.merge(class_facts(environment.facts));
  return machines_[environment_digest] = machine_of(environment);
}

Status RunRecorder::free_slots() {
  return store_.abandon(owner_, services_.clock.wall_now());
}

Result<std::vector<MachineRun>> RunRecorder::past_runs() {
  TW_TRY(auto rows, store_.runs_of(owner_));
  std::vector<MachineRun> runs;
  for (auto& row : rows) {
    TW_TRY(auto name, machine(row.environment_digest));
    runs.push_back(MachineRun{std::move(row), std::move(name)});
  }
  return runs;
}

Result<RunRecorder::Issued> RunRecorder::issue(const RunSlot& slot, const Plan& plan,
                                               const Benchmark& benchmark, Pass pass,
                                               const Place* place) {
  const auto& measured = slot.measured;
  Issued issued;
  const auto as_run = applied(measured.setting, benchmark);
  TW_TRY(const auto external, external_of(services_.config, plan, as_run));
  issued.row = {.owner = owner_,
                .slot = slot.slot,
                .build = measured.build,
                .benchmark = benchmark,
                .pass = pass,
                .node = place == nullptr ? "" : place->node};
  const auto token = services_.random.token();
  TW_TRY(issued.attempt, store_.issue(issued.row, token, services_.clock.wall_now()));
  issued.run.request = request_for(plan, as_run, pass);
  apply(measured.setting, issued.run.request);
  issued.run.environment = measured.setting.environment;
  issued.run.request.attempt = token;
  if (pass == Pass::timing) issued.run.request.planted_slowdown = measured.planted_slowdown;
  issued.run.runner = measured.kit.runner;
  issued.run.libraries = measured.tree.folder / "lib";
  issued.run.fresh_copy = measured.place_libraries;
  if (external != nullptr) {
    issued.run.command = command_of(*external);
    issued.workload = fingerprint(*external).value_or("not readable");
    issued.unsupported = not_taken(measured.setting);
  }
  issued.run.machine_class = class_;
  issued.run.node = issued.row.node;
  if (pass == Pass::profile) {
    const auto folder = traces::folder_beside(services_.config.storage.path);
    issued.run.request.chrome_trace = traces::file_of(folder, token);
  }
  return issued;
}

/// Calls with the executor, while other lanes continue.
template <typename Call>
auto RunRecorder::carry_out(Place* place, const Call& call) {
  if (place == nullptr) return call(services_.executor);
  place->lock.unlock();
  auto done = call(place->executor);
  place->lock.lock();
  return done;
}

Result<executor::RunOutcome> RunRecorder::outcome_of(const Issued& issued, std::stop_token stop,
                                                     Place* place) {
  const auto& token = issued.run.request.attempt;
  if (!issued.unsupported.empty()) return unsupported(token, issued.unsupported);
  return carry_out(place,
                   [&](executor::Executor& executor) { return executor.run(issued.run, stop); });
}

Result<std::array<executor::RunOutcome, 2>> RunRecorder::outcomes_of(
    const std::array<Issued, 2>& issued, std::stop_token stop, Place* place) {
  const auto& [one, other] = issued;
  const auto& reason = one.unsupported.empty() ? other.unsupported : one.unsupported;
  if (!reason.empty()) {
    return std::array{unsupported(one.run.request.attempt, reason),
                      unsupported(other.run.request.attempt, reason)};
  }
  return carry_out(place, [&](executor::Executor& executor) {
    return executor.run_pair({one.run, other.run}, stop);
  });
}

Status RunRecorder::wait_after_kills(std::stop_token stop, Place* place) {
  if (killed_in_a_row_ == 0) return {};
  if (killed_in_a_row_ >= kKillsMax) {
    return fail(ErrorCode::unavailable,
                std::to_string(kKillsMax) +
                    " runs in a row were killed from outside, as when memory runs out; what was "
                    "measured is kept");
  }
  const auto pause = pause_after(killed_in_a_row_);
  services_.progress.log("waiting " + std::to_string(pause.count()) +
                         " s, because a run was killed from outside, as when memory runs out");
  return carry_out(place, [&](executor::Executor&) -> Status {
    services_.clock.wait(pause, stop);
    if (!stop.stop_requested()) return {};
    return fail(ErrorCode::cancelled, "interrupted before a run");
  });
}

/// What a lane has lost is measured again elsewhere, so its slots are freed at once.
Error RunRecorder::lost(const Error& error, const std::vector<const Issued*>& issued,
                        Place* place) {
  if (place == nullptr) return error;
  place->is_lost = error.code == ErrorCode::unavailable || error.code == ErrorCode::conflict;
  std::vector<std::string> tokens;
  for (const auto* each : issued) tokens.push_back(each->run.request.attempt);
  const auto freed = store_.abandon(tokens, services_.clock.wall_now());
  return freed ? error : freed.error();
}

/// The first run decides of which class all are.
Status RunRecorder::require_class(const executor::RunOutcome& outcome, Place* place) {
  const auto* result = std::get_if<RunResult>(&outcome);
  if (result == nullptr || result->environment.facts.empty()) return {};
  const auto& facts = result->environment.facts;
  const auto other = place == nullptr ? std::nullopt : class_difference(class_, facts);
  if (other) {
    return fail(
        ErrorCode::conflict,
        "node " + place->node + " is of another machine class than this comparison: " + *other);
  }
  class_.merge(class_facts(facts));
  return {};
}

Result<MachineRun> RunRecorder::run(const RunSlot& slot, const Plan& plan,
                                    const Benchmark& benchmark, Pass pass, std::stop_token stop,
                                    Place* place) {
  TW_TRY_VOID(wait_after_kills(stop, place));
  const RunUnderWay under_way(services_.last_run);
  TW_TRY(const auto issued, issue(slot, plan, benchmark, pass, place));
  const auto outcome = outcome_of(issued, stop, place);
  const auto status = outcome ? require_class(*outcome, place) : Status{fail(outcome.error())};
  if (!status) return fail(lost(status.error(), {&issued}, place));
  note(is_killed(*outcome));
  auto end = end_of(issued.run, *outcome, issued.workload);
  if (place == nullptr) end.node = services_.executor.node();
  TW_TRY_VOID(store_.record({end}, services_.clock.wall_now()));
  TW_TRY_VOID(platform::failpoint("nightly.after_run_stored"));
  return ended(issued, end);
}

Result<std::array<MachineRun, 2>> RunRecorder::run_pair(const std::array<RunSlot, 2>& slots,
                                                        const Plan& plan,
                                                        const Benchmark& benchmark,
                                                        std::stop_token stop, Place* place) {
  TW_TRY_VOID(wait_after_kills(stop, place));
  const RunUnderWay under_way(services_.last_run);
  std::array<Issued, 2> issued;
  TW_TRY(issued[0], issue(slots[0], plan, benchmark, Pass::timing, place));
  TW_TRY(issued[1], issue(slots[1], plan, benchmark, Pass::timing, place));
  for (auto& each : issued) {
    each.run.request.limits.time_ms *= 2;  // each also waits during the other's samples
    each.run.request.batch_below_ns = kInterleavedSampleNs;
  }
  const auto outcomes = outcomes_of(issued, stop, place);
  auto status = outcomes ? require_class((*outcomes)[0], place) : Status{fail(outcomes.error())};
  if (status) status = require_class((*outcomes)[1], place);
  if (!status) return fail(lost(status.error(), {&issued[0], &issued[1]}, place));
  note(is_killed((*outcomes)[0]) || is_killed((*outcomes)[1]));
  std::vector ends{end_of(issued[0].run, (*outcomes)[0], issued[0].workload),
                   end_of(issued[1].run, (*outcomes)[1], issued[1].workload)};
  fail_together(ends);
  if (place == nullptr) ends[0].node = ends[1].node = services_.executor.node();
  return store(issued, ends);
}

Result<std::array<MachineRun, 2>> RunRecorder::run_both(const std::array<RunSlot, 2>& slots,
                                                        const Plan& plan,
                                                        const Benchmark& benchmark, Pass pass,
                                                        std::stop_token stop, Place& place) {
  TW_TRY_VOID(wait_after_kills(stop, &place));
  const RunUnderWay under_way(services_.last_run);
  std::array<Issued, 2> issued;
  std::vector<storage::AttemptEnd> ends;
  TW_TRY(issued[0], issue(slots[0], plan, benchmark, pass, &place));
  TW_TRY(issued[1], issue(slots[1], plan, benchmark, pass, &place));
  for (const auto& each : issued) {
    const auto outcome = outcome_of(each, stop, &place);
    const auto status = outcome ? require_class(*outcome, &place) : Status{fail(outcome.error())};
    if (!status) return fail(lost(status.error(), {&issued[0], &issued[1]}, &place));
    note(is_killed(*outcome));
    ends.push_back(end_of(each.run, *outcome, each.workload));
  }
  return store(issued, ends);
}

Result<std::array<MachineRun, 2>> RunRecorder::store(const std::array<Issued, 2>& issued,
                                                     const std::vector<storage::AttemptEnd>& ends) {
  TW_TRY_VOID(store_.record(ends, services_.clock.wall_now()));
  TW_TRY_VOID(platform::failpoint("nightly.after_run_stored"));
  return std::array{ended(issued[0], ends[0]), ended(issued[1], ends[1])};
}

MachineRun RunRecorder::ended(const Issued& issued, const storage::AttemptEnd& end) {
  MachineRun run;
  run.row.attempt = issued.attempt;
  run.row.slot = issued.row.slot;
  run.row.build = issued.row.build;
  run.row.benchmark = issued.row.benchmark;
  run.row.pass = issued.row.pass;
  if (const auto* failure = std::get_if<storage::AttemptFailure>(&end.how)) {
    run.row.status = RunStatus::failed;
    run.row.reason = failure->reason;
    return run;
  }
  const auto& result = std::get<RunResult>(end.how);
  run.row.status = result.status;
  run.row.reason = result.reason;
  run.row.values = result.values;
  run.machine = machine_of(result.environment);
  return run;
}

}  // namespace torchwatch::comparison
