#include "torchwatch/inquiry/runner_call.hpp"

#include "torchwatch/executor/local_executor.hpp"

namespace torchwatch::inquiry {
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

Result<Runner> prepare_runner(comparison::Services& services, const storage::BuildRow& build,
                              std::stop_token stop) {
  TW_TRY(const auto tree, builds::inspect(build.folder));
  auto workloads = services.config.suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, services.runners.workloads());
  }
  services.progress.phase_started("preparing the runner of " + build.name);
  TW_TRY(const auto kit, services.runners.kit_for(tree, workloads, stop));
  if (kit.runner.empty()) {
    return fail(ErrorCode::invalid, "no runner is compiled: all workloads of [suite] are external",
                "name one of the suite with --workload or in [suite] workloads");
  }
  return Runner{tree, kit};
}

Result<RunResult> run_unstored(comparison::Services& services, const Runner& runner,
                               protocol::Request request, std::stop_token stop) {
  executor::RunSpec spec;
  spec.request = std::move(request);
  spec.request.attempt = services.random.token();
  spec.runner = runner.kit.runner;
  spec.libraries = runner.tree.folder / "lib";
  TW_TRY(auto outcome, services.executor.run(spec, stop));
  if (auto* result = std::get_if<RunResult>(&outcome)) return std::move(*result);
  RunResult failed;
  failed.attempt = spec.request.attempt;
  failed.status = RunStatus::failed;
  failed.reason = std::get<executor::RunFailure>(outcome).reason;
  return failed;
}

Result<nlohmann::json> ask_runner(daemon::Application& application, const Runner& runner,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit, std::stop_token stop) {
  process::ProcessSpec spec;
  spec.program = runner.kit.runner;
  spec.arguments = arguments;
  spec.environment = {{"LD_LIBRARY_PATH", (runner.tree.folder / "lib").string()}, {"LC_ALL", "C"}};
  spec.working_folder = "/";
  spec.time_limit = time_limit;
  spec.output_limit_bytes = kAnswerBytesMax;
  const auto sees = executor::profile_of_runner(runner.kit.runner, runner.tree.folder / "lib");
  TW_TRY_VOID(application.sandbox().confine(spec, sees));
  const auto outcome = application.processes().run(spec, stop);
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "interrupted");
  if (process::succeeded(outcome)) return parse(arguments.front(), outcome.output);
  return fail(ErrorCode::unavailable, "runner " + arguments.front() + ": " +
                                          process::describe(outcome.end) + "\n" + outcome.output);
}

}  // namespace torchwatch::inquiry
