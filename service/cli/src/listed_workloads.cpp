#include "listed_workloads.hpp"

#include <chrono>
#include <filesystem>

#include "runner_call.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::cli {
namespace {

using nlohmann::json;

constexpr const char* kCounted = "workloads.json";  ///< beside the kit that has counted it
constexpr std::size_t kListBytesMax = 4U << 20U;
constexpr std::chrono::minutes kTimeMax{40};  // each network may be built and run once

bool is_list(const json& listed) {
  return !listed.is_discarded() && listed.contains("workloads");
}

Result<json> list(daemon::Application& application, const Runner& runner,
                  const std::vector<std::string>& arguments, std::stop_token stop) {
  TW_TRY(auto listed, ask_runner(application, runner, arguments, kTimeMax, stop));
  if (is_list(listed)) return listed;
  return fail(ErrorCode::corrupt, "runner list named no workloads:\n" + listed.dump());
}

}  // namespace

Result<json> suite_of(const config::Config& config) {
  const auto file = daemon::runner_sources(config) / "models" / "suite.json";
  TW_TRY(const auto text, platform::read_file(file, kListBytesMax));
  auto suite = json::parse(text, nullptr, false);
  if (suite.is_array()) return suite;
  return fail(ErrorCode::corrupt, "invalid " + file.string() + ": must be a list of workloads");
}

json counted_at_hand(const config::Config& config) {
  namespace fs = std::filesystem;
  fs::file_time_type newest_time;
  json newest;
  for (const auto& kit : platform::list_folder(config.build.cache / "kits").entries) {
    const auto file = kit.path() / kCounted;
    std::error_code missing;
    const auto time = fs::last_write_time(file, missing);
    if (missing || (!newest.is_null() && time < newest_time)) continue;
    const auto text = platform::read_file(file, kListBytesMax);
    auto listed = text ? json::parse(*text, nullptr, false) : json();
    if (!text || !is_list(listed)) continue;
    newest = std::move(listed);
    newest_time = time;
  }
  return newest;
}

Result<json> registered_workloads(daemon::Application& application, const storage::BuildRow& build,
                                  std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(application.services(), build, stop));
  return list(application, runner, {"list", "--json", "--registered"}, stop);
}

Result<json> counted_workloads(daemon::Application& application, const storage::BuildRow& build,
                               std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(application.services(), build, stop));
  const auto kept = runner.kit.runner.parent_path() / kCounted;
  if (const auto text = platform::read_file(kept, kListBytesMax)) {
    auto listed = json::parse(*text, nullptr, false);
    if (is_list(listed)) return listed;
  }
  application.services().progress.phase_started("counting what each workload has and does");
  TW_TRY(auto listed, list(application, runner, {"list", "--json"}, stop));
  TW_TRY_VOID(platform::publish_file(kept, listed.dump()));
  return listed;
}

}  // namespace torchwatch::cli
