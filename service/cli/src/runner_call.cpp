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

Result<Runner> prepare_runner(daemon::Application& application, const storage::BuildRow& build,
                              std::stop_token stop) {
  auto& services = application.services();
  TW_TRY(const auto tree, builds::inspect(build.folder));
  auto workloads = application.config().suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, services.runners.workloads());
  }
  services.progress.phase_started("preparing the runner of " + build.name);
  TW_TRY(const auto kit, services.runners.kit_for(tree, workloads, stop));
  return Runner{tree, kit};
}

process::ProcessSpec process_of(const Runner& runner, std::vector<std::string> arguments,
                                std::filesystem::path folder,
                                std::chrono::milliseconds time_limit) {
  process::ProcessSpec spec;
  spec.program = runner.kit.runner;
  spec.arguments = std::move(arguments);
  spec.environment = {{"LD_LIBRARY_PATH", (runner.tree.folder / "lib").string()}, {"LC_ALL", "C"}};
  spec.working_folder = std::move(folder);
  spec.time_limit = time_limit;
  spec.output_limit_bytes = kAnswerBytesMax;
  return spec;
}

Result<nlohmann::json> ask_runner(daemon::Application& application, const Runner& runner,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit, std::stop_token stop) {
  const auto spec =
      process_of(runner, arguments, application.config().executor.scratch, time_limit);
  const auto outcome = application.processes().run(spec, stop);
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "interrupted");
  if (process::succeeded(outcome)) return parse(arguments.front(), outcome.output);
  return fail(ErrorCode::unavailable, "runner " + arguments.front() + ": " +
                                          process::describe(outcome.end) + "\n" + outcome.output);
}

}  // namespace torchwatch::cli
