#include "run_ends.hpp"

namespace torchwatch::comparison {

std::string not_taken(const Setting& setting, const Variant& variant) {
  if (!variant.operator_name.empty()) return "an external workload states no operators";
  const auto backend = variant.backend;
  if (backend != Backend::eager) {
    return "an external workload is not compiled by " + std::string(to_string(backend)) +
           ": what it compiles itself is a workload of its own";
  }
  std::string switches;
  const auto add = [&](bool is_set, const char* name) {
    if (is_set) switches += (switches.empty() ? "" : ", ") + std::string(name);
  };
  add(setting.fixed_heap.has_value(), "heap=");
  add(setting.flushes_denormals.has_value(), "denormals=");
  add(setting.zeroes_gradients.has_value(), "gradients=");
  return switches.empty() ? "" : "an external workload has no switch for " + switches;
}

executor::RunOutcome unsupported(const std::string& reason) {
  RunResult result;
  result.status = RunStatus::unsupported;
  result.reason = reason;
  return result;
}

executor::RunOutcome outcome_without(const Result<packages::Outcome>& outcome) {
  if (!outcome) return executor::RunFailure{.reason = outcome.error().text(), .output = {}};
  if (const auto* refusal = std::get_if<packages::Refusal>(&*outcome)) {
    return unsupported(refusal->reason);
  }
  const auto& [reason, is_killed] = std::get<packages::Failed>(*outcome);
  const auto kind = is_killed ? executor::FailureKind::killed : executor::FailureKind::other;
  return executor::RunFailure{.reason = reason, .output = {}, .kind = kind};
}

executor::RunOutcome answered(executor::RunOutcome outcome, const std::string& token) {
  if (auto* result = std::get_if<RunResult>(&outcome)) result->attempt = token;
  return outcome;
}

void add_compilation(const packages::Package& package, Pass pass, executor::RunOutcome& outcome) {
  auto* result = std::get_if<RunResult>(&outcome);
  if (result == nullptr || result->status != RunStatus::ok) return;
  if (pass == Pass::timing) result->values[Metric::compile_time] = package.compile_time_ns;
  if (pass != Pass::memory) return;
  result->values[Metric::compile_peak] = package.compile_peak;
  result->values[Metric::package_size] = package.bytes;
}

bool is_killed(const executor::RunOutcome& outcome) {
  const auto* failure = std::get_if<executor::RunFailure>(&outcome);
  return failure != nullptr && failure->kind == executor::FailureKind::killed;
}

storage::AttemptEnd end_of(const executor::RunSpec& run, const executor::RunOutcome& outcome,
                           const std::string& workload) {
  const auto& token = run.request.attempt;
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return {token, storage::AttemptFailure{failure->reason, failure->output}};
  }
  auto result = std::get<RunResult>(outcome);
  if (!workload.empty()) result.environment.facts["workload"] = workload;
  // What somebody's own program says beside its figures is not about outputs, unless it lacks them.
  const bool lacks_outputs = run.request.outputs && result.outputs.empty();
  if (!workload.empty() && result.status == RunStatus::ok && !lacks_outputs) result.reason.clear();
  if (result.status != RunStatus::failed) return {token, std::move(result)};
  return {token, storage::AttemptFailure{result.reason, {}}};
}

void fail_together(storage::AttemptEnd& one, storage::AttemptEnd& other) {
  const auto* failure = std::get_if<storage::AttemptFailure>(&one.how);
  const auto* others = std::get_if<storage::AttemptFailure>(&other.how);
  if ((failure == nullptr) == (others == nullptr)) return;
  const auto reason =
      "interleaved with a run that failed: " + (failure != nullptr ? failure : others)->reason;
  (failure != nullptr ? other : one).how = storage::AttemptFailure{reason, {}};
}

}  // namespace torchwatch::comparison
