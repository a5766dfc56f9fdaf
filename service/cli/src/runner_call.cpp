#include "runner_call.hpp"

#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::cli {

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

Result<nlohmann::json> call_runner(daemon::Session& session, const storage::BuildRow& build,
                                   const std::string& command, std::stop_token stop) {
  auto& workshop = session.workshop();
  TW_TRY(const auto tree, builds::inspect(build.folder));
  auto workloads = session.config().suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, workshop.runners.workloads());
  }
  workshop.progress.began("preparing the runner of " + build.name);
  TW_TRY(const auto kit, workshop.runners.kit_for(tree, workloads, stop));
  doors::ProcessSpec spec;
  spec.program = kit.runner;
  spec.arguments = {command, "--json"};
  spec.environment = {{"LD_LIBRARY_PATH", (tree.folder / "lib").string()}, {"LC_ALL", "C"}};
  spec.working_folder = session.config().executor.scratch;
  spec.time_limit = std::chrono::minutes(10);
  spec.output_limit_bytes = 4U << 20U;
  const auto outcome = session.processes().run(spec, stop);
  if (!doors::succeeded(outcome)) {
    return fail(ErrorCode::unavailable,
                "runner " + command + ": " + doors::describe(outcome.end) + "\n" + outcome.output);
  }
  // A library may have warned on stderr before; the JSON begins where the first brace does.
  const auto begin = outcome.output.find_first_of("{[");
  auto parsed = nlohmann::json::parse(
      begin == std::string::npos ? "" : outcome.output.substr(begin), nullptr, false);
  if (parsed.is_discarded()) {
    return fail(ErrorCode::corrupt, "runner " + command + " printed no JSON:\n" + outcome.output);
  }
  return parsed;
}

}  // namespace torchwatch::cli
