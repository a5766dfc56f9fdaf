#include "torchwatch/inquiry/listed_workloads.hpp"

#include <chrono>

#include "torchwatch/inquiry/runner_call.hpp"
#include "torchwatch/kits/suite.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::inquiry {
namespace {

using nlohmann::json;

constexpr std::size_t kListBytesMax = 4U << 20U;
constexpr std::chrono::minutes kTimeMax{40};  // each network may be built and run once

Result<json> list(daemon::Application& application, const Runner& runner,
                  const std::vector<std::string>& arguments, std::stop_token stop) {
  TW_TRY(auto listed, ask_runner(application, runner, arguments, kTimeMax, stop));
  if (kits::lists_workloads(listed)) return listed;
  return fail(ErrorCode::corrupt, "runner list named no workloads:\n" + listed.dump());
}

}  // namespace

Result<json> registered_workloads(daemon::Application& application, const storage::BuildRow& build,
                                  std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(application.services(), build, stop));
  return list(application, runner, {"list", "--json", "--registered"}, stop);
}

Result<json> counted_workloads(daemon::Application& application, const storage::BuildRow& build,
                               std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(application.services(), build, stop));
  const auto kept = runner.kit.runner.parent_path() / kits::kCountedFile;
  if (const auto text = platform::read_file(kept, kListBytesMax)) {
    auto listed = json::parse(*text, nullptr, false);
    if (kits::lists_workloads(listed)) return listed;
  }
  application.services().progress.phase_started("counting what each workload has and does");
  TW_TRY(auto listed, list(application, runner, {"list", "--json"}, stop));
  TW_TRY_VOID(platform::publish_file(kept, listed.dump()));
  return listed;
}

}  // namespace torchwatch::inquiry
