// Builds of commits that somebody else has made.
#include <catch2/catch.hpp>
#include <fstream>

#include "recipe_folder.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::commit_name;
using test::kCopyTree;
using test::processes;
using test::RecipeFolder;
using test::tree_of;

TEST_CASE("a build that somebody else has made comes before the recipe, and is kept like one") {
  RecipeFolder folder(kCopyTree);
  auto settings = folder.settings();
  int asked = 0;
  settings.artifacts = [&](const std::string& commit, const fs::path& tree,
                           std::stop_token) -> Status {
    ++asked;
    fs::copy(folder.path() / "template", tree, fs::copy_options::recursive);
    std::ofstream(tree / "build-hash") << commit << '\n';
    std::ofstream(tree / "origin") << "https://builds.example/" << commit << '\n';
    return {};
  };
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto tree = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK(tree.origin == "https://builds.example/" + commit_name(1));
  CHECK(tree_of(builder.build(commit_name(1), std::nullopt, {})).origin == tree.origin);
  CHECK(asked == 1);
  CHECK(folder.calls() == 0);
}

TEST_CASE("a missing build or one that is not a tree falls back to the recipe, which says why") {
  RecipeFolder folder(kCopyTree);
  auto settings = folder.settings();
  settings.artifacts = [](const std::string& commit, const fs::path& tree,
                          std::stop_token) -> Status {
    if (commit == commit_name(1)) return fail(ErrorCode::not_found, "nobody made it");
    std::ofstream(tree / "build-hash") << commit << '\n';
    return {};
  };
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto log_of = [&](int commit) {
    const auto file = folder.path() / "cache" / (commit_name(commit) + ".log");
    return platform::read_file(file, 1000).value();
  };
  CHECK(tree_of(builder.build(commit_name(1), std::nullopt, {})).origin.empty());
  CHECK_THAT(log_of(1), Contains("not made elsewhere: nobody made it"));
  tree_of(builder.build(commit_name(2), std::nullopt, {}));
  CHECK_THAT(log_of(2), Contains("made elsewhere, but it cannot be used: "));
  CHECK(folder.calls() == 2);
}

}  // namespace
}  // namespace torchwatch::builds
