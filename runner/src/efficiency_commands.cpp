#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "request_file.hpp"
#include "torchwatch/runner/libtorch.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/quiet.hpp"

namespace torchwatch::runner {

ExitStatus flops_command(const Call& call) {
  if (call.arguments.size() != 1) return wrong_use(call, "flops takes REQUEST.json");
  const auto runnable = read_runnable(call.arguments[0]);
  if (!runnable) return failed(call, runnable.error());
  const auto workload = models::build(runnable->entry->definition, setup_of(runnable->request));
  // The first iteration may do more than the others: an optimiser makes its state.
  workload->step();
  const auto flops = count_flops([&] { workload->step(); });
  call.out << nlohmann::json{{"flops_per_iteration", flops}}.dump(2) << "\n";
  return ExitStatus::done;
}

ExitStatus peak_command(const Call& call) {
  if (call.arguments.size() != 1) return wrong_use(call, "peak takes REQUEST.json");
  const auto request = read_request(call.arguments[0]);
  if (!request) return failed(call, request.error());
  const auto setup = setup_of(*request);
  if (setup.device == models::Device::cuda && !cuda_is_available()) {
    return wrong_use(call, "this LibTorch finds no CUDA device here");
  }

  make_quiet(*request);
  set_threads(std::max(1, request->cell.variant.threads));
  const auto peak = measure_gemm_peak(setup.device, setup.precision);
  call.out << nlohmann::json{{"flops_per_second", peak.flops_per_second}, {"size", peak.size}}.dump(
                  2)
           << "\n";
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
