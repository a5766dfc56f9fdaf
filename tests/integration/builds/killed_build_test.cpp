#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "recipe_folder.hpp"

namespace torchwatch::builds {
namespace {

using test::commit_name;
using test::RecipeFolder;

doors::ProcessOutcome build_once(const RecipeFolder& folder, const std::string& failpoint) {
  static const auto runner =
      doors::make_process_runner("integration-killed-build-" + std::to_string(getpid()));
  const auto settings = folder.settings();
  return runner->run(
      {.program = TORCHWATCH_BUILD_ONCE,
       .arguments = {settings.recipe, settings.folder, commit_name(1)},
       .environment = {{"PATH", "/usr/bin:/bin"}, {"TORCHWATCH_FAILPOINT", failpoint}},
       .working_folder = folder.path(),
       .time_limit = std::chrono::seconds(60),
       .output_limit_bytes = 100'000,
       .tag = {},
       .cpus = {},
       .on_started = {}});
}

bool was_killed(const doors::ProcessOutcome& outcome) {
  const auto* const end = std::get_if<doors::Signalled>(&outcome.end);
  return end != nullptr && end->signal == SIGKILL;
}

TEST_CASE("a builder killed before its build is visible makes it again, and nothing is left over") {
  const RecipeFolder folder(test::kCopyTree);
  CHECK(was_killed(build_once(folder, "publish.before_folder_rename:1:kill")));
  const auto again = build_once(folder, "");
  INFO(again.output);
  REQUIRE(doors::succeeded(again));
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
  REQUIRE(doors::succeeded(again));
  CHECK(folder.calls() == 1);
}

}  // namespace
}  // namespace torchwatch::builds
