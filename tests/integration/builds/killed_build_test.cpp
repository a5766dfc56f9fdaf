#include <catch2/catch.hpp>
#include <csignal>

#include "recipe_folder.hpp"
#include "torchwatch/builds/tool_environment.hpp"

namespace torchwatch::builds {
namespace {

using test::commit_name;
using test::processes;
using test::RecipeFolder;

process::ProcessOutcome build_once(const RecipeFolder& folder, const std::string& failpoint,
                                   const std::vector<std::string>& commits = {commit_name(1)}) {
  const auto settings = folder.settings();
  std::vector<std::string> arguments{settings.recipe, settings.folder};
  arguments.insert(arguments.end(), commits.begin(), commits.end());
  auto environment = build_settings();  // with others the builds would be others
  environment["PATH"] = "/usr/bin:/bin";
  environment["TORCHWATCH_FAILPOINT"] = failpoint;
  return processes().run({.program = TORCHWATCH_BUILD_ONCE,
                          .arguments = arguments,
                          .environment = environment,
                          .working_folder = folder.path(),
                          .time_limit = std::chrono::seconds(60),
                          .output_limit_bytes = 100'000,
                          .label = {},
                          .cpus = {},
                          .on_started = {}});
}

bool was_killed(const process::ProcessOutcome& outcome) {
  const auto* const end = std::get_if<process::Signalled>(&outcome.end);
  return end != nullptr && end->signal == SIGKILL;
}

TEST_CASE("a builder killed before its build is visible makes it again, and nothing is left over") {
  const RecipeFolder folder(test::kCopyTree);
  CHECK(was_killed(build_once(folder, "publish.before_folder_rename:1:kill")));
  const auto again = build_once(folder, "");
  INFO(again.output);
  REQUIRE(process::succeeded(again));
  CHECK(folder.calls() == 2);
  const auto names = folder.cache_names();
  REQUIRE(names.size() == 2);
  CHECK(names[0].starts_with(commit_name(1)));
  CHECK(names[1] == "lock");
}

TEST_CASE("a builder killed after its build became visible finds it there") {
  const RecipeFolder folder(test::kCopyTree);
  CHECK(was_killed(build_once(folder, "builds.after_build_published:1:kill")));
  const auto again = build_once(folder, "");
  INFO(again.output);
  REQUIRE(process::succeeded(again));
  CHECK(folder.calls() == 1);
}

TEST_CASE("of several builders that are killed, what one has finished is not made again") {
  std::vector<std::string> commits{commit_name(1), commit_name(2), commit_name(3)};
  const RecipeFolder folder(test::kCopyTree);
  CHECK(was_killed(build_once(folder, "builds.after_build_published:2:kill", commits)));
  std::vector<std::string> finished;
  for (const auto& commit : commits) {
    if (folder.has_build(commit)) finished.push_back(commit);
  }
  CHECK(finished.size() >= 2);

  commits.push_back(commit_name(4));
  const auto again = build_once(folder, "", commits);
  INFO(again.output);
  REQUIRE(process::succeeded(again));
  for (const auto& commit : finished) CHECK(folder.calls_for(commit) == 1);
  for (const auto& commit : commits) CHECK(folder.has_build(commit));
  CHECK(folder.cache_names().size() == commits.size() + 1);  // and the lock
}

}  // namespace
}  // namespace torchwatch::builds
