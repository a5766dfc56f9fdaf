// The recipe for PyTorch as the service calls it, in the sandbox: a toy tree takes PyTorch's place.
// tests/integration/deploy has the recipe alone.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "opened_sandbox.hpp"
#include "recipe_folder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using test::processes;
using test::RecipeFolder;

constexpr const char* kMakeRepositories = R"sh(
set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.invalid
export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.invalid
commit() { git -C $1 add . && git -C $1 commit -q -m "$2"; }
mkdir clone part
echo 'int part() { return 7; }' > part/part.cpp
git init -q part && commit part 'Begin'
git init -q clone
cp -r template clone/tree
echo 2.15.0a0 > clone/version.txt
cat > clone/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.18)
project(Torch LANGUAGES CXX)
add_library(part SHARED third_party/part/part.cpp)
install(DIRECTORY tree/ DESTINATION .)
install(TARGETS part DESTINATION lib)
END
git -C clone -c protocol.file.allow=always submodule -q add "$PWD/part" third_party/part
commit clone 'Take a part'
git -C clone rev-parse HEAD > commit
printf '#!/bin/bash\n[[ $1 == -c ]] || exec /usr/bin/python3 "$@"\n' > bin/python3
chmod +x bin/python3
)sh";

/// The repositories, and the variables that the recipe needs.
class Toy {
 public:
  Toy() {
    for (const char* name : {"bin", "work", "cache of the compiler"}) {
      fs::create_directories(path(name));
    }
    const auto made = processes().run({.program = "/bin/bash",
                                       .arguments = {"-c", kMakeRepositories},
                                       .environment = {{"PATH", "/usr/bin:/bin"}},
                                       .working_folder = folder.path(),
                                       .time_limit = std::chrono::seconds(60),
                                       .output_limit_bytes = 100'000,
                                       .label = {},
                                       .cpus = {},
                                       .on_started = {}},
                                      {});
    INFO(made.output);
    REQUIRE(process::succeeded(made));
    set("TORCHWATCH_PYTORCH_CLONE", path("clone"));
    set("TORCHWATCH_PYTORCH_WORK", path("work"));
    set("TORCHWATCH_PART", path("part"));  // a submodule of the disk, which the recipe must see
    set("TORCHWATCH_BIN", path("bin"));
    set("CCACHE_DIR", path("cache of the compiler"));
    set("PATH", path("bin").string() + ":/usr/bin:/bin");
  }
  ~Toy() {
    for (const auto& [name, value] : before_) {
      if (value.empty()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }
  Toy(const Toy&) = delete;
  Toy& operator=(const Toy&) = delete;

  fs::path path(const char* name) const { return folder.path() / name; }
  std::string commit() const {
    return platform::read_file(path("commit"), 1000).value().substr(0, 40);
  }

  RecipeFolder folder{""};

 private:
  void set(const std::string& name, const fs::path& value) {
    const char* const before = std::getenv(name.c_str());
    before_.emplace_back(name, before == nullptr ? "" : before);
    setenv(name.c_str(), value.c_str(), 1);
  }

  std::vector<std::pair<std::string, std::string>> before_;
};

}  // namespace

TEST_CASE(
    "the recipe for PyTorch builds in the sandbox, with submodules and the compiler's cache") {
  const Toy toy;
  const auto sandbox = test::opened_sandbox(processes(), toy.folder.path());
  if (!sandbox) return;
  auto settings = toy.folder.settings();
  settings.recipe = TORCHWATCH_SOURCE_DIR "/deploy/recipes/pytorch-cpu";
  settings.sandbox = *sandbox;
  settings.profile = {.readable = {}, .linked = {}, .writable = {toy.path("work")}};
  // Submodules of a test are folders, which git refuses unless this allows it.
  settings.environment = {"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"};
  setenv("GIT_CONFIG_COUNT", "1", 1);
  setenv("GIT_CONFIG_KEY_0", "protocol.file.allow", 1);
  setenv("GIT_CONFIG_VALUE_0", "always", 1);
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto built = builder.build(toy.commit(), std::nullopt, {});
  for (const auto& name : settings.environment) unsetenv(name.c_str());
  const auto log = toy.folder.path() / "cache" / (toy.commit() + ".log");
  INFO(platform::read_file(log, 100'000).value_or("no log"));
  const auto tree = test::tree_of(built);
  CHECK(tree.embedded_commit == toy.commit());
  CHECK(tree.version == "2.15.0a0+git" + toy.commit().substr(0, 7));
  CHECK(fs::exists(tree.folder / "lib" / "libpart.so"));
  CHECK_FALSE(fs::is_empty(toy.path("cache of the compiler")));
}

}  // namespace torchwatch::builds
