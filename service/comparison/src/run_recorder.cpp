#include "torchwatch/comparison/run_recorder.hpp"

#include <algorithm>

#include "run_ends.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/config/classes.hpp"
#include "torchwatch/detect/output_verdict.hpp"
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

/// What a run's workload has computed; null where it states nothing of it.
std::vector<OutputFigures>* outputs_of(storage::AttemptEnd& end) {
  auto* result = std::get_if<RunResult>(&end.how);
  return result == nullptr || result->outputs.empty() ? nullptr : &result->outputs;
}

/// Each run of a pair also waits during the other's samples.
void interleave(protocol::Request& request) {
  request.limits.time_ms *= 2;
  request.batch_below_ns = kInterleavedSampleNs;
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

Result<RunRecorder::Machine> RunRecorder::machine(const std::string& environment_digest) {
  if (environment_digest.empty()) return Machine{};
  const auto known = machines_.find(environment_digest);
  if (known != machines_.end()) return known->second;
  TW_TRY(const auto environment, store_.environment(environment_digest));
  return machines_[environment_digest] = {machine_of(environment), class_facts(environment.facts)};
}

void RunRecorder::note_class(const std::string& machine_class, const Facts& facts) {
  if (!facts.empty()) classes_[machine_class].insert(facts.begin(), facts.end());
}

Facts RunRecorder::facts_of(const std::string& machine_class) const {
  const auto known = classes_.find(machine_class);
  return known == classes_.end() ? Facts{} : known->second;
}

Status RunRecorder::free_slots() {
  return store_.abandon(owner_, services_.clock.wall_now());
}

Result<std::vector<MachineRun>> RunRecorder::past_runs() {
  TW_TRY(auto rows, store_.runs_of(owner_));
  std::vector<MachineRun> runs;
  for (auto& row : rows) {
    TW_TRY(auto made_on, machine(row.environment_digest));
    // The configuration may have lost the class of what was measured before.
    const auto of = config::class_of(services_.config, row.benchmark.configuration);
    if (of) note_class(*of, made_on.facts);
    runs.push_back(MachineRun{std::move(row), std::move(made_on.text)});
  }
  return runs;
}

Result<RunRecorder::Issued> RunRecorder::issue(const RunSlot& slot, const Plan& plan,
                                               const Benchmark& benchmark, Manner manner,
                                               const Place* place) {
  const auto pass = manner.pass;
  const auto& measured = slot.measured;
  Issued issued;
  const auto as_run = applied(measured.setting, benchmark);
  TW_TRY(const auto external, external_of(services_.config, plan, as_run));
  TW_TRY(issued.machine_class, config::class_of(services_.config, benchmark.configuration));
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
    auto reason = not_taken(measured.setting, as_run.variant);
    // A workload in the place of another may not be measured in all of its passes.
    const bool has_metrics = pass == Pass::timing || pass == Pass::memory;
    if (reason.empty() && has_metrics && issued.run.request.metrics.empty()) {
      reason =
          "\"" + external->name + "\" states nothing of the pass " + std::string(to_string(pass));
    }
    if (!reason.empty()) issued.without_run = unsupported(reason);
    issued.decides_for_both = true;
  }
  issued.run.machine_class = facts_of(issued.machine_class);
  issued.run.node = issued.row.node;
  issued.run.request.operators = manner.watches_operators;
  if (pass == Pass::profile && !manner.watches_operators) {
    const auto folder = traces::folder_beside(services_.config.storage.path);
    issued.run.request.chrome_trace = traces::file_of(folder, token);
  }
  return issued;
}

/// Makes the run name its package. What its workload is to blame for ends this run, and no other.
/// Errors: those of packages::PackageStore.
Status RunRecorder::take_package(const MeasurableBuild& measured, Issued& issued,
                                 std::stop_token stop) {
  const auto& request = issued.run.request;
  if (request.benchmark.variant.backend != Backend::aot_inductor || issued.run.command) return {};
  if (services_.lanes != nullptr) {
    issued.without_run = unsupported("aot_inductor is not measured on the nodes of a cluster");
    return {};
  }
  if (services_.packages == nullptr) {
    issued.without_run = unsupported("builds of pull requests are not compiled by aot_inductor");
    return {};
  }
  const auto makes = [&] { services_.progress.log("compiling " + to_string(request.benchmark)); };
  auto outcome = services_.packages->package_for({.tree = measured.tree,
                                                  .kit = measured.kit,
                                                  .request = request,
                                                  .environment = issued.run.environment},
                                                 makes, std::move(stop));
  // An answer that means nothing is the build's own.
  if (!outcome && outcome.error().code != ErrorCode::corrupt) return fail(outcome.error());
  if (outcome && std::holds_alternative<packages::Package>(*outcome)) {
    issued.package = std::get<packages::Package>(std::move(*outcome));
    issued.run.request.package = issued.package->file;
  } else {
    issued.without_run = outcome_without(outcome);
    // A study asks whether this side can be compared at all: its partner would run in vain.
    issued.decides_for_both = measured.setting.backend.has_value();
  }
  return {};
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

/// Both runs of a pair take place or none.
Result<std::vector<executor::RunOutcome>> RunRecorder::outcomes_of(
    const std::vector<Issued>& issued, bool is_in_pairs, std::stop_token stop, Place* place) {
  const auto decided = [&](std::size_t i) -> std::optional<executor::RunOutcome> {
    if (issued[i].without_run || !is_in_pairs) return issued[i].without_run;
    const auto& partner = issued[i ^ 1U];
    if (!partner.without_run || partner.decides_for_both) return partner.without_run;
    return executor::RunFailure{.reason = "its partner is not run", .output = {}};
  };
  executor::RunBlock block{.is_in_pairs = is_in_pairs};
  for (std::size_t i = 0; i < issued.size(); ++i) {
    if (!decided(i)) block.runs.push_back(issued[i].run);
  }
  std::vector<executor::RunOutcome> carried_out;
  if (!block.runs.empty()) {
    TW_TRY(carried_out, carry_out(place, [&](executor::Executor& executor) {
             return executor.run_block(std::move(block), std::move(stop));
           }));
  }
  std::vector<executor::RunOutcome> outcomes;
  auto next = carried_out.begin();
  for (std::size_t i = 0; i < issued.size(); ++i) {
    const auto without_run = decided(i);
    outcomes.push_back(without_run ? answered(*without_run, issued[i].run.request.attempt)
                                   : std::move(*next++));
    if (!issued[i].package) continue;
    add_compilation(*issued[i].package, issued[i].run.request.pass, outcomes.back());
  }
  return outcomes;
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
Error RunRecorder::lost(const Error& error, const std::vector<Issued>& issued, Place* place) {
  if (place == nullptr) return error;
  place->is_lost = error.code == ErrorCode::unavailable || error.code == ErrorCode::conflict;
  std::vector<std::string> tokens;
  for (const auto& each : issued) tokens.push_back(each.run.request.attempt);
  const auto freed = store_.abandon(tokens, services_.clock.wall_now());
  return freed ? error : freed.error();
}

/// The first run decides what all machines of the class are.
Status RunRecorder::require_class(const std::string& machine_class,
                                  const std::vector<executor::RunOutcome>& outcomes, Place* place) {
  for (const auto& outcome : outcomes) {
    const auto* result = std::get_if<RunResult>(&outcome);
    if (result == nullptr || result->environment.facts.empty()) continue;
    const auto& facts = result->environment.facts;
    const auto other =
        place == nullptr ? std::nullopt : class_difference(facts_of(machine_class), facts);
    if (other) {
      return fail(
          ErrorCode::conflict,
          "node " + place->node + " is of another machine class than this comparison: " + *other);
    }
    note_class(machine_class, class_facts(facts));
  }
  return {};
}

Result<MachineRun> RunRecorder::run(const RunSlot& slot, const Plan& plan,
                                    const Benchmark& benchmark, Pass pass, std::stop_token stop,
                                    Place* place) {
  TW_TRY(auto runs, run_block({slot}, plan, benchmark, {.pass = pass}, std::move(stop), place));
  return std::move(runs.front());
}

Result<std::array<MachineRun, 2>> RunRecorder::run_pair(const std::array<RunSlot, 2>& slots,
                                                        const Plan& plan,
                                                        const Benchmark& benchmark,
                                                        std::stop_token stop) {
  TW_TRY(auto runs,
         run_block({slots[0], slots[1]}, plan, benchmark, {.is_in_pairs = true}, std::move(stop)));
  return std::array{std::move(runs[0]), std::move(runs[1])};
}

Result<std::vector<MachineRun>> RunRecorder::run_block(const std::vector<RunSlot>& slots,
                                                       const Plan& plan, const Benchmark& benchmark,
                                                       Manner manner, std::stop_token stop,
                                                       Place* place) {
  TW_TRY_VOID(wait_after_kills(stop, place));
  const signals::RunUnderWay under_way(services_.last_run);
  std::vector<Issued> issued;
  for (const auto& slot : slots) {
    TW_TRY(auto each, issue(slot, plan, benchmark, manner, place));
    TW_TRY_VOID(take_package(slot.measured, each, stop));
    if (manner.is_in_pairs) interleave(each.run.request);
    issued.push_back(std::move(each));
  }
  const auto outcomes = outcomes_of(issued, manner.is_in_pairs, std::move(stop), place);
  const auto status = outcomes ? require_class(issued.front().machine_class, *outcomes, place)
                               : Status{fail(outcomes.error())};
  if (!status) return fail(lost(status.error(), issued, place));
  note(std::ranges::any_of(*outcomes, is_killed));
  std::vector<storage::AttemptEnd> ends;
  for (std::size_t i = 0; i < issued.size(); ++i) {
    ends.push_back(end_of(issued[i].run, (*outcomes)[i], issued[i].workload));
    if (manner.is_in_pairs && i % 2 != 0) fail_together(ends[i - 1], ends[i]);
    if (place == nullptr) ends.back().node = services_.executor.node();
  }
  if (plan.outputs) {
    TW_TRY_VOID(compare_outputs(slots, benchmark, ends));
  }
  TW_TRY_VOID(store_.record(ends, services_.clock.wall_now()));
  TW_TRY_VOID(platform::failpoint("nightly.after_run_stored"));
  std::vector<MachineRun> runs;
  for (std::size_t i = 0; i < issued.size(); ++i) runs.push_back(ended(issued[i], ends[i]));
  return runs;
}

/// The outputs of the baseline's first run are kept; of all others, how far they are from those.
Status RunRecorder::compare_outputs(const std::vector<RunSlot>& slots, const Benchmark& benchmark,
                                    std::vector<storage::AttemptEnd>& ends) {
  auto& first = baseline_outputs_[benchmark];
  if (first.empty()) {
    TW_TRY(first, store_.first_outputs(owner_, benchmark));
  }
  const std::vector<OutputFigures>* kept = nullptr;
  for (std::size_t i = 0; i < ends.size() && first.empty(); ++i) {
    if (!slots[i].is_baseline) continue;
    kept = outputs_of(ends[i]);
    if (kept != nullptr) first = *kept;
  }
  for (auto& end : ends) {
    auto* outputs = outputs_of(end);
    if (outputs == nullptr) continue;
    if (!first.empty()) {
      auto& result = std::get<RunResult>(end.how);
      result.values[Metric::output_difference] = detect::output_difference(first, *outputs);
      const auto furthest = detect::furthest_output(first, *outputs);
      if (!furthest.empty()) result.reason = "most in " + furthest;
    }
    if (outputs != kept) outputs->clear();
  }
  return {};
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
