#include "commands.hpp"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/runner/deadline.hpp"
#include "torchwatch/runner/environment.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/run_files.hpp"
#include "torchwatch/torch/libtorch.hpp"

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

}  // namespace torchwatch::runner
