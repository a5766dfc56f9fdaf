#include <catch2/catch.hpp>

#include "recipe_folder.hpp"
#include "skipped.hpp"
#include "torchwatch/builds/tool_environment.hpp"

namespace torchwatch::builds {
namespace {

using test::commit_name;
using test::processes;
using test::RecipeFolder;

/// Runs a command where a disk of 80 MiB lies at the folder, in mounts of its own.
process::ProcessOutcome with_small_disk(const std::filesystem::path& folder,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> arguments{"--mount"};
  if (geteuid() != 0) arguments.emplace_back("--map-root-user");
  const char* const mount = R"sh(mount -t tmpfs -o size=80m none "$0" && exec "$@")sh";
  arguments.insert(arguments.end(), {"sh", "-c", mount, folder.string()});
  arguments.insert(arguments.end(), command.begin(), command.end());
  auto environment = build_settings();
  environment["PATH"] = "/usr/bin:/bin";
  return processes().run({.program = "unshare",
                          .arguments = arguments,
                          .environment = environment,
                          .working_folder = "/",
                          .time_limit = std::chrono::seconds(60),
                          .output_limit_bytes = 100'000,
                          .label = {},
                          .cpus = {},
                          .on_started = {}});
}

TEST_CASE("a disk that is full when the recipe ends says nothing of the commit") {
  const RecipeFolder folder(R"sh(head -c 30000000 /dev/zero > "$TORCHWATCH_PREFIX/object"
exit "$(cat "$TREE/status")")sh");
  const auto settings = folder.settings();
  std::filesystem::create_directories(settings.folder);
  if (!process::succeeded(with_small_disk(settings.folder, {"true"}))) {
    test::say_skipped("no file system can be mounted here");
    return;
  }
  for (const char* status : {"125", "1"}) {
    std::ofstream(folder.path() / "template" / "status") << status;
    const auto outcome = with_small_disk(
        settings.folder, {TORCHWATCH_BUILD_ONCE, settings.recipe, settings.folder, commit_name(1)});
    INFO(status << ": " << process::describe(outcome.end) << ": " << outcome.output);
    CHECK_FALSE(process::succeeded(outcome));
    CHECK(outcome.output.find(" is full: free some space") != std::string::npos);
  }
  CHECK(folder.calls() == 2);
}

}  // namespace
}  // namespace torchwatch::builds
