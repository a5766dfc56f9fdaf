#include "request_file.hpp"

#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/result_file.hpp"

namespace torchwatch::runner {

Result<protocol::Request> read_request(const std::string& path) {
  TW_TRY(const std::string text, read_file(path, protocol::kRequestBytesMax));
  auto request = protocol::parse_request(text);
  if (!request) return fail(request.error().within(path));
  return request;
}

Result<Runnable> read_runnable(const std::string& path) {
  Runnable runnable;
  TW_TRY(runnable.request, read_request(path));
  const auto& workload = runnable.request.cell.workload;
  runnable.entry = models::find(workload);
  if (runnable.entry == nullptr) return fail(ErrorCode::invalid, unknown_workload(workload));
  auto reason = refusal(*runnable.entry, runnable.request);
  if (!reason.empty()) return fail(ErrorCode::invalid, std::move(reason));
  return runnable;
}

}  // namespace torchwatch::runner
