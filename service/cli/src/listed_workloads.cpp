#include "listed_workloads.hpp"

#include <chrono>

#include "torchwatch/doors/publish.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::cli {

namespace {

constexpr std::size_t kListBytesMax = 4U << 20U;
constexpr std::chrono::minutes kListTimeMax{40};  // each network is built and run once

/// A LibTorch and the program that was compiled against it.
struct Runner {
  builds::Tree tree;
  builds::Kit kit;
};

Result<Runner> prepare_runner(daemon::Session& session, const storage::BuildRow& build,
                              std::stop_token stop) {
  auto& workshop = session.workshop();
  TW_TRY(const auto tree, builds::inspect(build.folder));
  auto workloads = session.config().suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, workshop.runners.workloads());
  }
  workshop.progress.began("preparing the runner of " + build.name);
  TW_TRY(const auto kit, workshop.runners.kit_for(tree, workloads, stop));
  return Runner{tree, kit};
}

Result<std::string> ask(daemon::Session& session, const Runner& runner,
                        std::vector<std::string> arguments, std::stop_token stop) {
  doors::ProcessSpec spec;
  spec.program = runner.kit.runner;
  spec.arguments = std::move(arguments);
  spec.environment = {{"LD_LIBRARY_PATH", (runner.tree.folder / "lib").string()}, {"LC_ALL", "C"}};
  spec.working_folder = session.config().executor.scratch;
  spec.time_limit = kListTimeMax;
  spec.output_limit_bytes = kListBytesMax;
  const auto outcome = session.processes().run(spec, stop);
  if (doors::succeeded(outcome)) return outcome.output;
  return fail(ErrorCode::unavailable,
              "runner list: " + doors::describe(outcome.end) + "\n" + outcome.output);
}

/// A library may have warned on stderr before; the JSON begins where the first brace does.
Result<nlohmann::json> parse_list(const std::string& output) {
  const auto begin = output.find('{');
  auto parsed =
      nlohmann::json::parse(begin == std::string::npos ? "" : output.substr(begin), nullptr, false);
  if (parsed.is_discarded() || !parsed.contains("workloads")) {
    return fail(ErrorCode::corrupt, "runner list printed no JSON:\n" + output);
  }
  return parsed;
}

}  // namespace

Result<storage::BuildRow> newest_build(daemon::Session& session) {
  TW_TRY(const auto rows, storage::BuildStore(session.workshop().database).list());
  std::optional<storage::BuildRow> newest;
  for (const auto& row : rows) {
    const bool usable =
        row.state == storage::BuildState::ready && row.origin != storage::BuildOrigin::commit;
    if (usable && std::filesystem::exists(row.folder)) newest = row;
  }
  if (newest) return *newest;
  return fail(
      ErrorCode::not_found,
      "no build is known yet; name one with --build (a folder or a release such as 2.13.0)");
}

Result<nlohmann::json> registered_workloads(daemon::Session& session,
                                            const storage::BuildRow& build, std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(session, build, stop));
  TW_TRY(const auto output, ask(session, runner, {"list", "--json", "--registered"}, stop));
  return parse_list(output);
}

Result<nlohmann::json> counted_workloads(daemon::Session& session, const storage::BuildRow& build,
                                         std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(session, build, stop));
  const auto kept = runner.kit.runner.parent_path() / "workloads.json";
  if (const auto text = doors::read_file(kept, kListBytesMax)) {
    if (auto listed = parse_list(*text)) return listed;
  }
  session.workshop().progress.began("counting what each workload has and does");
  TW_TRY(const auto output, ask(session, runner, {"list", "--json"}, stop));
  TW_TRY(auto listed, parse_list(output));
  TW_TRY_VOID(doors::publish_file(kept, listed.dump()));
  return listed;
}

}  // namespace torchwatch::cli
