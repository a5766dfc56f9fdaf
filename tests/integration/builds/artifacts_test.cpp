// Builds of commits that somebody else has made.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

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
  settings.artifacts.bring = [&](const std::string& commit, const fs::path& tree,
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

namespace {

/// Brings the tree of any commit from elsewhere.
builds::CommitBuilder::Artifacts elsewhere(const RecipeFolder& folder) {
  return {.bring = [&folder](const std::string& commit, const fs::path& tree,
                             std::stop_token) -> Status {
    fs::copy(folder.path() / "template", tree, fs::copy_options::recursive);
    std::ofstream(tree / "build-hash") << commit << '\n';
    std::ofstream(tree / "origin") << "https://builds.example/" << commit << '\n';
    return {};
  }};
}

}  // namespace

TEST_CASE("builds from elsewhere of another extent, and from another place, are other builds") {
  RecipeFolder folder(kCopyTree);
  std::set<fs::path> folders;
  for (const auto& [address, for_cuda, with_python] : {std::tuple{"/a/{commit}", false, false},
                                                       {"/a/{commit}", true, false},
                                                       {"/a/{commit}", false, true},
                                                       {"/b/{commit}", false, false}}) {
    auto settings = folder.settings();
    settings.artifacts = elsewhere(folder);
    settings.artifacts.address = address;
    settings.artifacts.for_cuda = for_cuda;
    settings.artifacts.with_python = with_python;
    CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
    folders.insert(tree_of(builder.build(commit_name(1), std::nullopt, {})).folder);
    CHECK(builder.cached(commit_name(1)).value());
  }
  CHECK(folders.size() == 4);
  CHECK(folder.calls() == 0);
}

TEST_CASE("a build of the recipe lies beside somebody else's, and is found when it is meant") {
  RecipeFolder folder(std::string(kCopyTree) + "; echo base > \"$TORCHWATCH_PREFIX/origin\"");
  auto settings = folder.settings();
  settings.artifacts = elsewhere(folder);
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  const auto other = tree_of(builder.build(commit_name(1), std::nullopt, {}));
  CHECK_FALSE(builder.cached(commit_name(1), Maker::recipe).value());
  const auto own = tree_of(builder.build(commit_name(1), std::nullopt, {}, Maker::recipe));
  CHECK(own.origin.empty());
  CHECK(own.folder != other.folder);
  CHECK(builder.cached(commit_name(1), Maker::recipe).value());
  CHECK(tree_of(builder.build(commit_name(1), std::nullopt, {})).folder == other.folder);
  CHECK(folder.calls() == 1);
}

TEST_CASE("somebody else's build that an earlier version kept is found, with CUDA or Python not") {
  RecipeFolder folder(kCopyTree);
  auto settings = folder.settings();
  const auto earlier = tree_of(CommitBuilder(settings, processes(), RecipeFolder::check_out)
                                   .build(commit_name(1), std::nullopt, {}));
  std::ofstream(earlier.folder / "origin") << "https://builds.example/1\n";
  settings.artifacts.bring = [](const auto&, const auto&, auto) -> Status {
    return fail(ErrorCode::not_found, "nobody made it");
  };
  const auto folder_of = [&](Maker maker) {
    CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
    return tree_of(builder.build(commit_name(1), std::nullopt, {}, maker)).folder;
  };
  CHECK(folder_of(Maker::anybody) == earlier.folder);
  CHECK(folder.calls() == 1);
  CHECK(folder_of(Maker::recipe) != earlier.folder);
  CHECK(folder.calls() == 2);
  settings.artifacts.with_python = true;
  CHECK(folder_of(Maker::anybody) != earlier.folder);
  settings.artifacts.with_python = false;
  settings.artifacts.for_cuda = true;
  CHECK(folder_of(Maker::anybody) != earlier.folder);
  CHECK(fs::exists(earlier.folder));
}

TEST_CASE("a missing build or one that is not a tree falls back to the recipe, which says why") {
  RecipeFolder folder(kCopyTree);
  auto settings = folder.settings();
  int asked = 0;
  settings.artifacts.bring = [&](const std::string& commit, const fs::path& tree,
                                 std::stop_token) -> Status {
    ++asked;
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
  // Nor is it asked for again.
  for (const int commit : {1, 2}) tree_of(builder.build(commit_name(commit), std::nullopt, {}));
  CHECK(asked == 2);
  CHECK(folder.calls() == 2);
}

TEST_CASE("a commit that nobody has made and that does not build is asked for once, too") {
  RecipeFolder folder("exit 125");
  auto settings = folder.settings();
  int asked = 0;
  settings.artifacts.bring = [&](const auto&, const auto&, auto) -> Status {
    ++asked;
    return fail(ErrorCode::not_found, "nobody made it");
  };
  CommitBuilder builder(settings, processes(), RecipeFolder::check_out);
  for (int i = 0; i < 2; ++i) {
    const auto build = builder.build(commit_name(1), std::nullopt, {});
    REQUIRE(build.has_value());
    CHECK(std::holds_alternative<Unbuildable>(*build));
  }
  CHECK(asked == 1);
  CHECK(folder.calls() == 1);
}

}  // namespace
}  // namespace torchwatch::builds
