#include "torchwatch/channel/actions_builds.hpp"

#include "libtorch_program.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

/// For the download, and for a run that is cancelled at its own limit.
constexpr std::chrono::seconds kBesideRun{3'600};

/// What decides on a build beside its commit.
std::string identity_of(const ActionsSettings& settings) {
  std::string text = "actions";
  for (const auto& part : {settings.api, settings.repository, settings.workflow, settings.ref,
                           settings.artifact, std::string(settings.for_cuda ? "cuda" : "")}) {
    text += "\n" + part;
  }
  // Nothing where it is not asked for: what is kept stays what it was.
  return text + (settings.with_python ? "\npython" : "");
}

std::vector<std::string> arguments_for(const ActionsSettings& settings, const std::string& commit,
                                       const fs::path& into) {
  std::vector<std::string> arguments{"--commit=" + commit,
                                     "--actions=" + settings.repository,
                                     "--workflow=" + settings.workflow,
                                     "--ref=" + settings.ref,
                                     "--artifact=" + settings.artifact,
                                     "--api=" + settings.api,
                                     "--time-limit=" + std::to_string(settings.time_limit.count())};
  if (!settings.commits.empty()) arguments.push_back("--commits=" + settings.commits);
  add_extent({settings.for_cuda, settings.with_python}, fs::absolute(settings.folder), arguments);
  arguments.insert(arguments.end(), {"--into", into.string()});
  return arguments;
}

}  // namespace

builds::CommitBuilder::Remote make_actions_builds(ActionsSettings settings,
                                                  process::ProcessRunner& processes) {
  const LibtorchProgram program({.program = settings.program,
                                 .python = settings.python,
                                 .folder = fs::absolute(settings.folder),
                                 .readable = {},
                                 .time_limit = settings.time_limit + kBesideRun,
                                 .disk_reserve_bytes = settings.disk_reserve_bytes,
                                 .sandbox = settings.sandbox},
                                processes);
  auto identity = identity_of(settings);
  auto make = [program, settings = std::move(settings)](
                  const std::string& commit, const fs::path& tree, std::stop_token stop) -> Status {
    auto token = settings.token();
    // Like a token that GitHub refuses: the work waits for another one.
    if (!token) return fail(ErrorCode::unavailable, token.error().text());
    const auto into = tree / "torch";
    const auto made =
        program.run(arguments_for(settings, commit, into),
                    {{"TORCHWATCH_ACTIONS_TOKEN", *std::move(token)}}, std::move(stop));
    if (!made) return fail(made.error());
    return move_up(into);
  };
  return {.make = std::move(make), .identity = std::move(identity)};
}

}  // namespace torchwatch::channel
