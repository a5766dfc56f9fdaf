#include "runner_call.hpp"

namespace torchwatch::cli {
namespace {

constexpr std::size_t kAnswerBytesMax = 4U << 20U;

/// A library may have warned on stderr before; the JSON begins where the first brace does.
Result<nlohmann::json> parse(const std::string& command, const std::string& output) {
  const auto begin = output.find('{');
  auto parsed =
      nlohmann::json::parse(begin == std::string::npos ? "" : output.substr(begin), nullptr, false);
  if (!parsed.is_discarded()) return parsed;
  return fail(ErrorCode::corrupt, "runner " + command + " printed no JSON:\n" + output);
}

}  // namespace

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

doors::ProcessSpec process_of(const Runner& runner, std::vector<std::string> arguments,
                              std::filesystem::path folder, std::chrono::milliseconds time_limit) {
  doors::ProcessSpec spec;
  spec.program = runner.kit.runner;
  spec.arguments = std::move(arguments);
  spec.environment = {{"LD_LIBRARY_PATH", (runner.tree.folder / "lib").string()}, {"LC_ALL", "C"}};
  spec.working_folder = std::move(folder);
  spec.time_limit = time_limit;
  spec.output_limit_bytes = kAnswerBytesMax;
  return spec;
}

Result<nlohmann::json> ask_runner(daemon::Session& session, const Runner& runner,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit, std::stop_token stop) {
  const auto spec = process_of(runner, arguments, session.config().executor.scratch, time_limit);
  const auto outcome = session.processes().run(spec, stop);
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "interrupted");
  if (doors::succeeded(outcome)) return parse(arguments.front(), outcome.output);
  return fail(ErrorCode::unavailable, "runner " + arguments.front() + ": " +
                                          doors::describe(outcome.end) + "\n" + outcome.output);
}

}  // namespace torchwatch::cli
