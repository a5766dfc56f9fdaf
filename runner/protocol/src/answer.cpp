#include <algorithm>

#include "torchwatch/protocol/result.hpp"

namespace torchwatch::protocol {
namespace {

tl::unexpected<Error> lacks(Pass pass, std::string_view what) {
  return fail(ErrorCode::invalid,
              "an ok result of the " + std::string(to_string(pass)) + " pass " + std::string(what));
}

/// The least share of the length that a request asks of a sample, `batch_below_ns`. A figure in
/// microseconds is a thousandth of what it says.
constexpr double kSampleShareMin = 0.1;

/// Refuses samples of an external workload that are shorter than they may be: they are in another
/// unit, or were not taken of a batch.
Status check_length(const Request& request, const RunResult& result) {
  const auto time = static_cast<double>(result.values.at(Metric::time));
  const double length = time * static_cast<double>(result.iterations_per_sample);
  if (length >= kSampleShareMin * static_cast<double>(request.batch_below_ns)) return {};
  return lacks(Pass::timing, "must have samples of at least batch_below_ns, " +
                                 std::to_string(request.batch_below_ns) + " ns, and has of " +
                                 std::to_string(static_cast<std::int64_t>(length)) +
                                 ": state nanoseconds, and time short iterations in batches");
}

Status check_timing(const Request& request, const RunResult& result) {
  const bool times_operator = is_of_operator(request.benchmark);
  if (times_operator == result.operator_figures.empty()) {
    return lacks(Pass::timing, times_operator
                                   ? "must have operator_figures: an operator was asked for"
                                   : "must not have operator_figures: they were not asked for");
  }
  if (result.samples_ns.empty()) return lacks(Pass::timing, "must have samples_ns");
  const auto asked = static_cast<std::size_t>(request.iterations);
  if (result.samples_ns.size() > asked || result.device_samples_ns.size() > asked) {
    return lacks(Pass::timing, "must not have more samples than were asked for");
  }
  const bool is_timed = std::ranges::find(request.metrics, Metric::time) != request.metrics.end();
  return is_timed ? check_length(request, result) : Status{};
}

/// An external workload states what it was asked for, neither less nor more; what is shown beside
/// its times it may add. In the place of a difference of outputs it states the outputs.
Status check_stated(const Request& request, const RunResult& result) {
  if (request.outputs && result.outputs.empty() && result.reason.empty()) {
    return lacks(request.pass, "must state outputs, which were asked for, or a reason");
  }
  for (const auto metric : request.metrics) {
    if (metric == Metric::output_difference || result.values.contains(metric)) continue;
    return lacks(request.pass,
                 "must state " + std::string(to_string(metric)) + " in values: it was asked for");
  }
  for (const auto& [metric, value] : result.values) {
    if (std::ranges::find(request.metrics, metric) != request.metrics.end()) continue;
    if (!is_judged(metric) && pass_of(metric) == request.pass) continue;
    return lacks(request.pass,
                 "must not state " + std::string(to_string(metric)) + ": it was not asked for");
  }
  return {};
}

Status check_memory(const Request& request, const RunResult& result) {
  const bool is_external = !request.metrics.empty();
  if (!is_external && !result.values.contains(Metric::cpu_peak))
    return lacks(Pass::memory, "must have cpu_peak");
  if (!is_external && request.leak_iterations > 0 && !result.leak)
    return lacks(Pass::memory, "must have leak");
  if (result.values.contains(Metric::output_difference)) {
    return lacks(Pass::memory, "must not state output_difference: the service computes it");
  }
  if (!request.outputs && !result.outputs.empty()) {
    return lacks(Pass::memory, "must not have outputs: they were not asked for");
  }
  const auto growth = result.values.find(Metric::leak_growth);
  if (growth != result.values.end() &&
      (!result.leak || result.leak->growth_bytes_per_iteration != growth->second)) {
    return lacks(Pass::memory, "must state the same leak_growth in values and leak");
  }
  const bool has_levels = result.leak && !result.leak->heap_bytes.empty();
  if (result.values.contains(Metric::heap_growth) != has_levels) {
    return lacks(Pass::memory, "must state heap_growth exactly with leak.heap_bytes");
  }
  return {};
}

Status check_profile(const Request& request, const RunResult& result) {
  if (!result.breakdown && result.breakdown_reason.empty()) {
    return lacks(Pass::profile, "must have a breakdown or a reason for its absence");
  }
  if (request.operators && result.operator_figures.empty()) {
    return lacks(Pass::profile, "must have operator_figures: they were asked for");
  }
  if (!request.operators && !result.operator_figures.empty()) {
    return lacks(Pass::profile, "must not have operator_figures: they were not asked for");
  }
  return {};
}

}  // namespace

Status check_answers(const Request& request, const RunResult& result) {
  if (result.attempt != request.attempt) {
    return fail(ErrorCode::conflict, "result of another attempt: \"" + result.attempt + "\"");
  }
  if (result.status != RunStatus::ok) return {};
  if (!request.metrics.empty()) TW_TRY_VOID(check_stated(request, result));
  switch (request.pass) {
    case Pass::timing:
      return check_timing(request, result);
    case Pass::memory:
      return check_memory(request, result);
    case Pass::profile:
      return check_profile(request, result);
    case Pass::coverage:
      if (result.operators.empty()) return lacks(Pass::coverage, "must have operators");
      return {};
    case Pass::flops:
      if (!result.flops_per_iteration) return lacks(Pass::flops, "must have flops_per_iteration");
      return {};
    case Pass::peak:
      if (!result.flops_per_second) return lacks(Pass::peak, "must have flops_per_second");
      return {};
  }
  return {};
}

}  // namespace torchwatch::protocol
