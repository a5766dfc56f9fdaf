// What the build of a head can do: nothing to what others read.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "file_content.hpp"
#include "pulls_fixture.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace fs = std::filesystem;

namespace {

/// A recipe that tries everything that it must not be able to do, and says what came of it.
std::string hostile_recipe(const fs::path& folder) {
  const auto place = folder.string();
  return "#!/bin/bash\n"
         "try() { if \"${@:2}\" 2> /dev/null; then echo \"$1: done\"; else echo \"$1: refused\"; "
         "fi; }\n"
         "try ccache touch \"$CCACHE_DIR/planted\"\n"
         "try read_ccache cat \"$CCACHE_DIR/known\"\n"
         "echo \"readonly: $CCACHE_READONLY\"\n"
         "try writable touch " +
         place +
         "/writable/planted\n"
         "try commits touch " +
         place +
         "/state/builds/planted\n"
         "try base touch \"$TORCHWATCH_BASE/planted\"\n"
         "try token cat " +
         place +
         "/github.token\n"
         "try database cat " +
         place +
         "/state/torchwatch.sqlite\n"
         "try network bash -c 'exec 3<>/dev/tcp/127.0.0.1/'\"${TORCHWATCH_TEST_PORT:-80}\"\n"
         "echo \"secret: ${RECIPE_SETTING:-none}\"\n"
         "exit 125\n";
}

}  // namespace

TEST_CASE("the build of a head writes nothing that others read, and sees no token") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto& folder = fixture.folder.path();
  for (const auto* name : {"writable", "ccache", "base/lib"}) fs::create_directories(folder / name);
  fixture.folder.write("ccache/known", "an object\n");
  const auto recipe = fixture.folder.write("hostile.sh", hostile_recipe(folder));
  fs::permissions(recipe, fs::perms::owner_all);
  ::setenv("CCACHE_DIR", (folder / "ccache").c_str(), 1);
  ::setenv("RECIPE_SETTING", "a secret of trusted recipes", 1);
  auto config = fixture.config;
  config.build.recipe = recipe;
  config.sandbox.writable = {folder / "writable"};
  config.sandbox.environment = {"RECIPE_SETTING"};
  config.sandbox.recipe_network = true;
  pulls::HeadBuilds heads(config, *fixture.runners, *fixture.processes,
                          {.kit_sources = "/nowhere",
                           .sandbox = fixture.sandbox,
                           .checkout = [](const std::string&, const fs::path&) { return Status{}; },
                           .runners = fixture.runners.get()});
  builds::Tree base;
  base.folder = folder / "base";
  // It makes no build: what it printed lies in its log.
  const std::string sha(40, 'c');
  const auto built = heads.build(sha, base, {});
  ::unsetenv("CCACHE_DIR");
  ::unsetenv("RECIPE_SETTING");
  if (!built) FAIL(built.error().text());
  std::string log;
  for (const auto& entry : fs::recursive_directory_iterator(pulls::folder_of_pulls(config))) {
    if (entry.path().extension() == ".log") log += test::content_of(entry.path());
  }
  CAPTURE(log);
  // Below a /tmp of its own it may write what nobody else sees: for the folder of the builds the
  // disk decides, further down.
  for (const auto* what : {"ccache", "writable", "base", "token", "database", "network"}) {
    CHECK_THAT(log, Contains(std::string(what) + ": refused"));
  }
  CHECK_THAT(log, Contains("read_ccache: done") && Contains("readonly: 1"));
  CHECK_THAT(log, Contains("secret: none"));
  CHECK_THAT(log, !Contains(kToken));
  for (const auto* name :
       {"ccache/planted", "writable/planted", "state/builds/planted", "base/planted"}) {
    CHECK_FALSE(fs::exists(folder / name));
  }
}
