#include "torchwatch/protocol/result.hpp"

namespace torchwatch::protocol {
namespace {

tl::unexpected<Error> lacks(Pass pass, std::string_view what) {
  return fail(ErrorCode::invalid,
              "an ok result of the " + std::string(to_string(pass)) + " pass " + std::string(what));
}

Status check_timing(const Request& request, const RunResult& result) {
  if (result.samples_ns.empty()) return lacks(Pass::timing, "must have samples_ns");
  const auto asked = static_cast<std::size_t>(request.iterations);
  if (result.samples_ns.size() > asked || result.device_samples_ns.size() > asked) {
    return lacks(Pass::timing, "must not have more samples than were asked for");
  }
  return {};
}

Status check_memory(const Request& request, const RunResult& result) {
  if (!result.values.contains(Metric::cpu_peak)) return lacks(Pass::memory, "must have cpu_peak");
  if (request.leak_iterations > 0 && !result.leak) return lacks(Pass::memory, "must have leak");
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

}  // namespace

Status check_answers(const Request& request, const RunResult& result) {
  if (result.attempt != request.attempt) {
    return fail(ErrorCode::conflict, "result of another attempt: \"" + result.attempt + "\"");
  }
  if (result.status != RunStatus::ok) return {};
  switch (request.pass) {
    case Pass::timing:
      return check_timing(request, result);
    case Pass::memory:
      return check_memory(request, result);
    case Pass::profile:
      if (!result.breakdown && result.breakdown_reason.empty()) {
        return lacks(Pass::profile, "must have a breakdown or a reason for its absence");
      }
      return {};
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
