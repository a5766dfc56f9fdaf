#include "torchwatch/builds/commit_builder.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "fake_process_runner.hpp"
#include "no_threads.hpp"
#include "opened_sandbox.hpp"
#include "recipe_folder.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/builds/kept_log.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using test::commit_name;
using test::kCopyTree;
using test::processes;
using test::RecipeFolder;
using test::tree_of;

CommitBuilder builder_of(const RecipeFolder& folder) {
  return {folder.settings(), processes(), RecipeFolder::check_out};
}

Unbuildable unbuildable_of(const Result<CommitBuild>& build) {
  INFO((build ? std::string() : build.error().message));
  REQUIRE(build.has_value());
  REQUIRE(std::holds_alternative<Unbuildable>(*build));
  return std::get<Unbuildable>(*build);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a confined recipe builds, and reaches nothing but what it works on") {
  RecipeFolder folder("");
  const auto sandbox = test::opened_sandbox(processes(), folder.path());
  if (!sandbox) return;
  folder.folder().write("secret", "hidden");
  folder.folder().write("tools/version", "tool");
  fs::permissions(folder.folder().write("recipe", R"sh(#!/bin/sh
set -e
here=$(dirname "$0")
test "$(cat "$TORCHWATCH_SOURCE/file.txt")" = "$TORCHWATCH_COMMIT"
test "$(cat "$TORCHWATCH_TOOLS/version")" = tool
echo object > "$CCACHE_DIR/object"
if [ -e "$here/secret" ] || echo x > "$TORCHWATCH_TOOLS/new"; then exit 3; fi
echo x > "$here/new" || true
if echo x > "$TORCHWATCH_BASE/new"; then exit 4; fi
if [ -n "$https_proxy" ] || [ "$HOME" != /tmp ]; then exit 5; fi
cp -r "$TORCHWATCH_BASE/." "$TORCHWATCH_PREFIX"
echo "$TORCHWATCH_COMMIT" > "$TORCHWATCH_PREFIX/build-hash"
)sh"),
                  fs::perms::owner_all);
  setenv("TORCHWATCH_TOOLS", (folder.path() / "tools").c_str(), 1);
  setenv("CCACHE_DIR", (folder.path() / "compiler cache").c_str(), 1);
  setenv("https_proxy", "http://user:secret@proxy", 1);
  auto settings = folder.settings();
  settings.sandbox = *sandbox;
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  Tree base;
  base.folder = folder.path() / "template";
  const auto tree = tree_of(builder.build(commit_name(1), base, {}));
  CHECK(tree.embedded_commit == commit_name(1));
  CHECK(fs::exists(folder.path() / "compiler cache" / "object"));
  // Where the folder lies below /tmp, the recipe may write beside it in a /tmp of its own.
  CHECK_FALSE(fs::exists(folder.path() / "new"));
  for (const char* name : {"TORCHWATCH_TOOLS", "CCACHE_DIR", "https_proxy"}) unsetenv(name);
}

TEST_CASE("a recipe gets the agreed environment, an empty prefix and the commit's checkout") {
  setenv("TORCHWATCH_MY_SETTING", "mine", 1);
  setenv("TORCHWATCH_GITHUB_TOKEN", "hidden", 1);
  setenv("UNRELATED", "hidden", 1);
  RecipeFolder folder(R"sh(
test -z "$(ls -A "$TORCHWATCH_PREFIX")"
test "$(cat "$TORCHWATCH_SOURCE/file.txt")" = "$TORCHWATCH_COMMIT"
test "$TORCHWATCH_JOBS" -ge 1
test "$TORCHWATCH_MY_SETTING" = mine
env | grep -q hidden && exit 3
cp -r "$TREE"/. "$TORCHWATCH_PREFIX"
echo "$TORCHWATCH_COMMIT" > "$TORCHWATCH_PREFIX/build-hash"
echo "base=$TORCHWATCH_BASE")sh");
  auto builder = builder_of(folder);
  Tree base;
  base.folder = "/some/base";
  const Tree tree = tree_of(builder.build(commit_name(1), base, {}));
  CHECK(tree.embedded_commit == commit_name(1));
  const auto log = folder.path() / "cache" / (commit_name(1) + ".log");
  CHECK(*platform::read_file(log, 1000) == "base=/some/base\n");
  tree_of(builder.build(commit_name(2), std::nullopt, {}));
  CHECK(*platform::read_file(folder.path() / "cache" / (commit_name(2) + ".log"), 1000) ==
        "base=\n");
  const auto cache = folder.path() / "cache";
  CHECK(kept_log(cache, commit_name(1)) == *platform::read_file(log, 1'000));
  CHECK(kept_log(cache, "../" + commit_name(1)).empty());
  CHECK(kept_log(folder.path(), commit_name(1)).empty());
}

TEST_CASE("a commit is built once, found again later, and leaves no checkout behind") {
  const RecipeFolder folder(kCopyTree);
  const Tree first = tree_of(builder_of(folder).build(commit_name(1), std::nullopt, {}));
  auto later = builder_of(folder);
  const Tree second = tree_of(later.build(commit_name(1), std::nullopt, {}));
  const auto cached = later.cached(commit_name(1));
  REQUIRE(cached.has_value());
  CHECK(std::get<Tree>(cached->value()).folder == first.folder);
  CHECK(first.folder == second.folder);
  CHECK(folder.calls() == 1);
  CHECK(folder.cache_names() == std::vector<std::string>{first.folder.filename().string(), "lock"});
}

TEST_CASE("a commit that was never asked for is not in the cache") {
  const RecipeFolder folder(kCopyTree);
  const auto cached = builder_of(folder).cached(commit_name(1));
  REQUIRE(cached.has_value());
  CHECK_FALSE(cached->has_value());
}

TEST_CASE("another recipe makes another build of the same commit") {
  RecipeFolder folder(kCopyTree);
  auto builder = builder_of(folder);
  const Tree first = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  folder.set_recipe(std::string(kCopyTree) + " # changed");
  const Tree second = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK(first.folder != second.folder);
  CHECK(folder.calls() == 2);
}

TEST_CASE("other settings of the recipe make another build, other proxies do not") {
  const RecipeFolder folder(kCopyTree);
  auto builder = builder_of(folder);
  const auto build = [&] {
    return tree_of(builder.build(commit_name(1), std::nullopt, {})).folder;
  };
  const auto first = build();
  for (const char* name : {"TORCHWATCH_PYTORCH_OPTIONS", "CXXFLAGS"}) {
    INFO(name);
    setenv(name, "-O2", 1);
    const auto second = build();
    setenv(name, "-O3", 1);
    CHECK((second != first && build() != second));
    unsetenv(name);
  }
  setenv("https_proxy", "http://proxy.example", 1);
  CHECK(build() == first);
  unsetenv("https_proxy");
  CHECK(folder.calls() == 5);
}

TEST_CASE("exit 125 is an answer at once, and for ever") {
  const RecipeFolder folder("echo 'x.cpp: error: no y'; exit 125");
  auto builder = builder_of(folder);
  const auto answer = unbuildable_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK_FALSE(answer.fault);
  CHECK(answer.reason == "recipe exited 125 (\"x.cpp: error: no y\")");
  auto settings = folder.settings();
  settings.fault_age_max = std::chrono::seconds(0);
  CommitBuilder later(settings, processes(), RecipeFolder::check_out);
  CHECK_FALSE(unbuildable_of(later.build(commit_name(1), std::nullopt, {})).fault);
  CHECK(folder.calls() == 1);
}

TEST_CASE("a fault is tried once more in a new empty prefix") {
  const RecipeFolder folder(R"sh(
test -z "$(ls -A "$TORCHWATCH_PREFIX")"
if [ "$(wc -l < "$CALLS")" -eq 1 ]; then touch "$TORCHWATCH_PREFIX/rubbish"; exit 1; fi
cp -r "$TREE"/. "$TORCHWATCH_PREFIX")sh");
  const Tree tree = tree_of(builder_of(folder).build(commit_name(1), std::nullopt, {}));
  CHECK(folder.calls() == 2);
  CHECK_FALSE(fs::exists(tree.folder / "rubbish"));
}

TEST_CASE("what the first try of a commit still writes does not lie in the folder of the second") {
  const RecipeFolder folder(R"sh(
echo "$TORCHWATCH_PREFIX" >> "$CALLS.prefixes"
if [ "$(wc -l < "$CALLS")" -eq 1 ]; then exit 1; fi
late=$(head -n 1 "$CALLS.prefixes")
mkdir -p "$late" && touch "$late/late"
cp -r "$TREE"/. "$TORCHWATCH_PREFIX")sh");
  const Tree tree = tree_of(builder_of(folder).build(commit_name(1), std::nullopt, {}));
  CHECK(folder.calls() == 2);
  CHECK_FALSE(fs::exists(tree.folder / "late"));
}

TEST_CASE("two faults make a commit unbuildable until a later bisection tries again") {
  const RecipeFolder folder("echo out of luck; exit 1");
  auto builder = builder_of(folder);
  const auto answer = unbuildable_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK(answer.fault);
  CHECK(answer.reason == "faulted twice: exit status 1 (\"out of luck\")");
  CHECK(folder.calls() == 2);
  CHECK(unbuildable_of(builder.build(commit_name(1), std::nullopt, {})).fault);
  CHECK(folder.calls() == 2);
  auto settings = folder.settings();
  settings.fault_age_max = std::chrono::seconds(0);
  CommitBuilder later(settings, processes(), RecipeFolder::check_out);
  CHECK(unbuildable_of(later.build(commit_name(1), std::nullopt, {})).fault);
  CHECK(folder.calls() == 4);
}

TEST_CASE("a recipe that hangs is ended at its time limit") {
  const RecipeFolder folder("sleep 1000");
  auto settings = folder.settings();
  settings.time_limit = std::chrono::seconds(1);
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto answer = unbuildable_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK(answer.fault);
  CHECK(answer.reason == "faulted twice: timed out after 1 s");
}

TEST_CASE("a recipe that floods is ended, and what is kept of it is limited") {
  const RecipeFolder folder("yes flood");
  auto settings = folder.settings();
  settings.output_limit_bytes = 10'000;
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto answer = unbuildable_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK(answer.fault);
  CHECK(answer.reason == "faulted twice: printed more than 10000 bytes");
  CHECK(fs::file_size(folder.path() / "cache" / (commit_name(1) + ".log")) <= 20'000);
}

TEST_CASE("a fault that a clock years ahead has stored is forgotten") {
  const RecipeFolder folder("echo out of luck; exit 1");
  auto builder = builder_of(folder);
  CHECK(unbuildable_of(builder.build(commit_name(1), std::nullopt, {})).fault);
  for (const auto& entry : fs::directory_iterator(folder.settings().folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ofstream(entry.path()) << R"({"reason": "r", "fault": true, "made_at_ms": 9999999999999})";
  }
  CHECK(unbuildable_of(builder.build(commit_name(1), std::nullopt, {})).fault);
  CHECK(folder.calls() == 4);
}

TEST_CASE("an incomplete tree is a fault that says what is missing") {
  const RecipeFolder folder(std::string(kCopyTree) + "; rm \"$TORCHWATCH_PREFIX/build-hash\"");
  const auto answer = unbuildable_of(builder_of(folder).build(commit_name(1), std::nullopt, {}));
  CHECK(answer.fault);
  CHECK(contains(answer.reason, "exit status 0, but"));
  CHECK(contains(answer.reason, "build-hash"));
}

TEST_CASE("a tree with links into its own folder of before is a fault, not a build") {
  const RecipeFolder folder(std::string(kCopyTree) + R"sh(
mv "$TORCHWATCH_PREFIX/lib" "$TORCHWATCH_PREFIX/lib64"
ln -s "$TORCHWATCH_PREFIX/lib64" "$TORCHWATCH_PREFIX/lib")sh");
  const auto answer = unbuildable_of(builder_of(folder).build(commit_name(1), std::nullopt, {}));
  CHECK(answer.fault);
  CHECK(contains(answer.reason, "after moving the tree"));
}

TEST_CASE("a recipe that cannot be started says nothing about the commit") {
  const RecipeFolder folder(kCopyTree);
  auto settings = folder.settings();
  SECTION("it is missing") {
    settings.recipe = folder.path() / "gone";
  }
  SECTION("it is not executable") {
    fs::permissions(settings.recipe, fs::perms::owner_read | fs::perms::owner_write);
  }
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto build = builder.build(commit_name(1), std::nullopt, {});
  REQUIRE_FALSE(build.has_value());
  CHECK(build.error().code == ErrorCode::unavailable);
  CHECK(contains(build.error().message, settings.recipe.string()));
}

TEST_CASE("a build that is stopped leaves nothing and counts for nothing") {
  const RecipeFolder folder(kCopyTree);
  test::FakeProcessRunner stopped([](const process::ProcessSpec&, std::stop_token) {
    return test::ended(process::Cancelled{});
  });
  CommitBuilder builder(folder.settings(), stopped, RecipeFolder::check_out);
  const auto build = builder.build(commit_name(1), std::nullopt, {});
  REQUIRE_FALSE(build.has_value());
  CHECK(build.error().code == ErrorCode::cancelled);
  CHECK(folder.cache_names() == std::vector<std::string>{"lock"});
}

TEST_CASE("a commit that cannot be checked out gives the checkout's error") {
  const RecipeFolder folder(kCopyTree);
  CommitBuilder builder(folder.settings(), processes(), [](const auto& commit, const auto&) {
    return Status(fail(ErrorCode::not_found, "no commit " + commit));
  });
  const auto build = builder.build(commit_name(1), std::nullopt, {});
  REQUIRE_FALSE(build.has_value());
  CHECK(build.error().code == ErrorCode::not_found);
}

TEST_CASE("several commits are built at once, each by a builder with a number of its own") {
  // Each end of a pipe waits for the other one: the two calls only end together.
  const RecipeFolder folder(R"sh(
test "$TORCHWATCH_JOBS" = 3
case "$TORCHWATCH_BUILDER" in
  0) echo "$TORCHWATCH_COMMIT" > "$TREE/../meeting" ;;
  1) read -r other < "$TREE/../meeting"; test "$other" != "$TORCHWATCH_COMMIT" ;;
  *) exit 1 ;;
esac
test "$(cat file.txt)" = "$TORCHWATCH_COMMIT"
cp -r "$TREE"/. "$TORCHWATCH_PREFIX"
echo "$TORCHWATCH_COMMIT" > "$TORCHWATCH_PREFIX/build-hash")sh");
  REQUIRE(mkfifo((folder.path() / "meeting").c_str(), 0600) == 0);
  auto settings = folder.settings();
  settings.jobs = 3;
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto builds = builder.build_at_once({commit_name(1), commit_name(2)}, std::nullopt, {});
  INFO((builds ? std::string() : builds.error().message));
  REQUIRE(builds.has_value());
  REQUIRE(builds->size() == 2);
  for (int n : {0, 1}) {
    const auto* tree = std::get_if<Tree>(&builds->at(n));
    REQUIRE(tree != nullptr);
    CHECK(tree->embedded_commit == commit_name(n + 1));
  }
  CHECK(folder.calls() == 2);
}

TEST_CASE("where no thread can be had, several commits are built one after the other") {
  const RecipeFolder folder(kCopyTree);
  auto builder = builder_of(folder);
  const test::NoThreads none;
  const auto builds = builder.build_at_once({commit_name(1), commit_name(2)}, std::nullopt, {});
  REQUIRE(builds.has_value());
  for (const auto& build : *builds) CHECK(std::holds_alternative<Tree>(build));
  CHECK(folder.calls() == 2);
}

TEST_CASE("of several commits only those that are not known are built, with their own answers") {
  const RecipeFolder folder("test \"$TORCHWATCH_COMMIT\" != " + commit_name(3) + " || exit 125\n" +
                            kCopyTree);
  auto builder = builder_of(folder);
  const Tree first = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  const auto builds =
      builder.build_at_once({commit_name(3), commit_name(1), commit_name(2)}, {}, {});
  REQUIRE(builds.has_value());
  CHECK(std::holds_alternative<Unbuildable>(builds->at(0)));
  CHECK(std::get<Tree>(builds->at(1)).folder == first.folder);
  CHECK(std::holds_alternative<Tree>(builds->at(2)));
  CHECK(folder.calls() == 3);
}

TEST_CASE("what several builders make is kept when one of them fails") {
  const RecipeFolder folder(kCopyTree);
  const auto all_but_first = [](const std::string& commit, const fs::path& into) {
    if (commit != commit_name(1)) return RecipeFolder::check_out(commit, into);
    return Status(fail(ErrorCode::not_found, "no commit " + commit));
  };
  CommitBuilder builder(folder.settings(), processes(), all_but_first);
  const auto builds = builder.build_at_once({commit_name(1), commit_name(2)}, std::nullopt, {});
  REQUIRE_FALSE(builds.has_value());
  CHECK(builds.error().code == ErrorCode::not_found);
  CHECK(contains(builds.error().message, commit_name(1)));
  tree_of(builder.build(commit_name(2), std::nullopt, {}));
  CHECK(folder.calls() == 1);
}

TEST_CASE("what is not a full sha never becomes a path") {
  const RecipeFolder folder(kCopyTree);
  auto builder = builder_of(folder);
  for (const std::string name : {"", "main", "../../../etc", "abc123"}) {
    const auto build = builder.build(name, std::nullopt, {});
    REQUIRE_FALSE(build.has_value());
    CHECK(build.error().code == ErrorCode::invalid);
  }
}

TEST_CASE("two processes do not build in one cache") {
  const RecipeFolder folder(kCopyTree);
  const auto other = FolderLock::acquire(folder.settings().folder);
  REQUIRE(other.has_value());
  const auto build = builder_of(folder).build(commit_name(1), std::nullopt, {});
  REQUIRE_FALSE(build.has_value());
  CHECK(build.error().code == ErrorCode::unavailable);  // for now
}

TEST_CASE("a build that was damaged in the cache is made again") {
  const RecipeFolder folder(kCopyTree);
  auto builder = builder_of(folder);
  const Tree tree = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  fs::remove(tree.folder / "lib/libc10.so");
  CHECK(tree_of(builder.build(commit_name(1), std::nullopt, {})).folder == tree.folder);
  CHECK(fs::exists(tree.folder / "lib/libc10.so"));
  CHECK(folder.calls() == 2);
}

}  // namespace
}  // namespace torchwatch::builds
