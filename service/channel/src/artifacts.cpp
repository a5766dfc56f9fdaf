#include "torchwatch/channel/artifacts.hpp"

#include "libtorch_program.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommit = "{commit}";

/// The folder above the first part of a path that differs between commits.
std::vector<fs::path> folder_of(const std::string& address) {
  if (!address.starts_with('/')) return {};
  const auto fixed = address.substr(0, address.find(kCommit));
  return {fs::path(fixed.substr(0, fixed.rfind('/') + 1))};
}

}  // namespace

builds::CommitBuilder::Artifacts make_artifacts(ArtifactSettings settings,
                                                process::ProcessRunner& processes) {
  const LibtorchProgram program({.program = settings.program,
                                 .python = settings.python,
                                 .folder = fs::absolute(settings.folder),
                                 .readable = folder_of(settings.address),
                                 .time_limit = settings.time_limit,
                                 .disk_reserve_bytes = settings.disk_reserve_bytes,
                                 .sandbox = settings.sandbox},
                                processes);
  auto bring = [program, settings](const std::string& commit, const fs::path& tree,
                                   std::stop_token stop) -> Status {
    // The address may hold a password, and everybody on the machine can read the arguments.
    const auto into = tree / "torch";
    std::vector<std::string> arguments{"--commit", commit};
    add_extent({settings.for_cuda, settings.with_python}, fs::absolute(settings.folder), arguments);
    arguments.insert(arguments.end(), {"--into", into.string()});
    const auto made = program.run(std::move(arguments),
                                  {{"TORCHWATCH_ARTIFACTS", settings.address}}, std::move(stop));
    if (!made) return fail(made.error());
    return move_up(into);
  };
  return {.bring = std::move(bring),
          .address = std::move(settings.address),
          .for_cuda = settings.for_cuda,
          .with_python = settings.with_python};
}

}  // namespace torchwatch::channel
