#include <chrono>
#include <filesystem>
#include <istream>
#include <ostream>

#include "commands.hpp"
#include "request_file.hpp"
#include "torchwatch/runner/deadline.hpp"
#include "torchwatch/runner/libtorch.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/quiet.hpp"
#include "torchwatch/runner/result_file.hpp"

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

std::int64_t time_one_step(models::Workload& workload, models::Device device) {
  const auto begin = std::chrono::steady_clock::now();
  workload.step();
  synchronise(device);
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
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

ExitStatus step_command(const Call& call) {
  if (call.arguments.size() != 1) return wrong_use(call, "step takes REQUEST.json");
  const auto runnable = read_runnable(call.arguments[0]);
  if (!runnable) return failed(call, runnable.error());
  const auto& request = runnable->request;

  make_quiet(request);
  const auto setup = setup_of(request);
  set_threads(std::max(1, request.cell.variant.threads));
  const auto workload = models::build(runnable->entry->definition, setup);
  for (int i = 0; i < request.warmup; ++i) workload->step();
  synchronise(setup.device);
  call.out << "ready\n" << std::flush;
  for (std::string line; std::getline(call.in, line);) {
    call.out << time_one_step(*workload, setup.device) << "\n" << std::flush;
  }
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
