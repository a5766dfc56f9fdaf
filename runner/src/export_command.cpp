#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "torchwatch/models/memory_estimate.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/run_files.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// Why there is no graph, and whether another try may have one.
struct Refusal {
  RunStatus status = RunStatus::unsupported;
  std::string reason;
};

/// Writes the graph; the refusal's reason is empty where that went well.
Refusal export_graph(const protocol::Request& request, const std::string& folder) {
  const auto* entry = models::find(request.benchmark.workload);
  if (entry == nullptr) {
    return {RunStatus::failed, unknown_workload(request.benchmark.workload)};
  }
  const auto setup = setup_of(request);
  auto reason = models::unsupported_reason(entry->definition, setup);
  if (!reason.empty()) return {RunStatus::unsupported, std::move(reason)};
  try {
    set_threads(1);
    initialize(setup.device);
    models::export_forward(*models::build(entry->definition, setup), folder);
  } catch (const models::UnsupportedSetup& error) {
    return {RunStatus::unsupported, error.what()};
  } catch (const std::exception& error) {
    return {RunStatus::failed, "the workload threw: " + reason_of(error)};
  }
  return {};
}

}  // namespace

ExitStatus export_command(const Call& call) {
  if (call.arguments.size() != 2) return wrong_use(call, "export takes REQUEST.json FOLDER");
  const auto request = read_request(call.arguments[0]);
  if (!request) return failed(call, request.error());
  const auto& folder = call.arguments[1];
  const auto refusal = export_graph(*request, folder);
  const auto status = refusal.reason.empty() ? RunStatus::ok : refusal.status;
  const nlohmann::json answer{{"status", to_string(status)}, {"reason", refusal.reason}};
  const auto written = write_result(std::filesystem::path(folder) / "export.json", answer.dump());
  return written ? ExitStatus::done : failed(call, written.error());
}

}  // namespace torchwatch::runner
