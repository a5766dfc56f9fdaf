#include "commands.hpp"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/runner/deadline.hpp"
#include "torchwatch/runner/environment.hpp"
#include "torchwatch/runner/libtorch.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/process_isolation.hpp"
#include "torchwatch/runner/run_files.hpp"

namespace torchwatch::runner {
namespace {

using protocol::Request;
using protocol::RunResult;

std::string late_result(const Request& request) {
  RunResult result;
  result.attempt = request.attempt;
  result.status = RunStatus::failed;
  result.reason =
      "did not end within the time limit of " + std::to_string(request.limits.time_ms) + " ms";
  return protocol::to_json(result);
}

}  // namespace

ExitStatus measure_command(const Call& call) {
  if (call.arguments.size() != 2) return wrong_use(call, "measure takes REQUEST.json RESULT.json");
  const auto request = read_request(call.arguments[0]);
  if (!request) return failed(call, request.error());
  const std::filesystem::path path = call.arguments[1];
  RunResult result;
  {
    const Deadline deadline(std::chrono::milliseconds(request->limits.time_ms), path,
                            late_result(*request));
    result = measure(*request);
  }
  const auto written = write_result(path, protocol::to_json(result));
  return written ? ExitStatus::done : failed(call, written.error());
}

ExitStatus environment_command(const Call& call) {
  const bool json = call.arguments == std::vector<std::string>{"--json"};
  if (!json && !call.arguments.empty()) return wrong_use(call, "environment takes only --json");
  set_threads(1);
  const auto facts = environment_facts(cuda_is_available());
  if (json) {
    call.out << nlohmann::json{{"facts", facts}}.dump(2) << "\n";
    return ExitStatus::done;
  }
  for (const auto& [name, value] : facts) call.out << name << ": " << value << "\n";
  return ExitStatus::done;
}

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

  isolate_process(*request);
  set_threads(std::max(1, request->benchmark.variant.threads));
  const auto peak = measure_gemm_peak(setup.device, setup.precision);
  call.out << nlohmann::json{{"flops_per_second", peak.flops_per_second}, {"size", peak.size}}.dump(
                  2)
           << "\n";
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
