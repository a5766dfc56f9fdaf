// Builds that a service elsewhere makes in the recipe's place.
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
using test::processes;
using test::RecipeFolder;
using test::tree_of;

/// A service that answers each commit with what the test wants.
struct Remote {
  RecipeFolder folder{"exit 1"};
  int asked = 0;
  std::function<Status(const fs::path&)> answer = [](const fs::path&) { return Status{}; };

  CommitBuilder::Settings settings(const std::string& identity = "one") {
    auto settings = folder.settings();
    settings.recipe = "actions";
    settings.remote = {
        .make = [this](const std::string& commit, const fs::path& tree, std::stop_token) -> Status {
          ++asked;
          TW_TRY_VOID(answer(tree));
          fs::copy(folder.path() / "template", tree, fs::copy_options::recursive);
          std::ofstream(tree / "build-hash") << commit << '\n';
          return {};
        },
        .identity = identity};
    return settings;
  }

  Result<CommitBuild> build(int commit, const std::string& identity = "one") {
    CommitBuilder builder(settings(identity), processes(), RecipeFolder::check_out);
    return builder.build(commit_name(commit), std::nullopt, {});
  }

  std::string log_of(int commit) const {
    const auto file = folder.path() / "cache" / (commit_name(commit) + ".log");
    return platform::read_file(file, 1000).value();
  }
};

}  // namespace

TEST_CASE_METHOD(Remote, "a service builds in the recipe's place, and its builds are kept") {
  const auto tree = tree_of(build(1));
  CHECK(tree.origin.empty());
  CHECK(tree_of(build(1)).folder == tree.folder);
  CHECK(asked == 1);
  CHECK(folder.calls() == 0);
  CHECK(tree_of(build(1, "two")).folder != tree.folder);
  CHECK(asked == 2);
}

TEST_CASE_METHOD(Remote, "a commit that the service cannot build is remembered with its reason") {
  answer = [](const fs::path&) -> Status {
    return fail(ErrorCode::invalid, "the run says \"\x1b[31mno\"");
  };
  for (int i = 0; i < 2; ++i) {
    const auto end = build(1);
    REQUIRE(end);
    const auto& unbuildable = std::get<Unbuildable>(*end);
    CHECK_FALSE(unbuildable.fault);
    CHECK(unbuildable.reason == "the run says \"?[31mno\"");
  }
  CHECK(asked == 1);
  CHECK_THAT(log_of(1), Contains("the run says"));
}

TEST_CASE_METHOD(Remote, "a fault of the service is tried once more, and then counts as one") {
  const auto code = GENERATE(ErrorCode::not_found, ErrorCode::corrupt, ErrorCode::timed_out);
  answer = [code](const fs::path&) -> Status { return fail(code, "the run was cancelled"); };
  const auto end = build(1);
  REQUIRE(end);
  CHECK(std::get<Unbuildable>(*end).fault);
  CHECK(asked == 2);
}

TEST_CASE_METHOD(Remote, "a service that cannot be reached is waited for: nothing is remembered") {
  answer = [](const fs::path&) -> Status {
    return fail(ErrorCode::unavailable, "its limit lasts 3600 s more");
  };
  const auto end = build(1);
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::unavailable);
  CHECK(asked == 1);
  answer = [](const fs::path&) { return Status{}; };
  tree_of(build(1));
  CHECK(asked == 2);
}

TEST_CASE_METHOD(Remote, "what a service leaves counts as a build only if it is a tree") {
  answer = [this](const fs::path& tree) -> Status {
    fs::remove(folder.path() / "template" / "build-version");
    std::ofstream(tree / "more") << "x";
    return {};
  };
  const auto end = build(1);
  REQUIRE(end);
  CHECK(std::get<Unbuildable>(*end).fault);
}

}  // namespace torchwatch::builds
