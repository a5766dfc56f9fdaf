// Builds on a cluster, whose machines may be lost.
#include <catch2/catch.hpp>
#include <set>

#include "fake_process_runner.hpp"
#include "recipe_folder.hpp"

namespace torchwatch::builds {

TEST_CASE("a build that is lost with its machine is made on another one, in folders of its own") {
  const test::RecipeFolder folder(test::kCopyTree);
  std::vector<std::string> folders;
  int losses = GENERATE(0, 2, 3);
  CAPTURE(losses);
  const int planned = losses;
  test::FakeProcessRunner cluster([&](const process::ProcessSpec& spec, std::stop_token stop) {
    folders.push_back(spec.environment.at("TORCHWATCH_SOURCE"));
    folders.push_back(spec.environment.at("TORCHWATCH_PREFIX"));
    const bool is_lost = losses-- > 0;
    return is_lost ? test::ended(process::Lost{"n1 died"}) : test::processes().run(spec, stop);
  });
  CommitBuilder builder(folder.settings(), cluster, test::RecipeFolder::check_out);
  const auto built = builder.build(test::commit_name(1), std::nullopt, {});
  CHECK(std::set(folders.begin(), folders.end()).size() == folders.size());
  if (planned < 3) {
    CHECK(test::tree_of(built).embedded_commit.size() == 40);
    return;
  }
  // That says nothing of the commit: it is not kept as one that cannot be built.
  REQUIRE_FALSE(built);
  CHECK(built.error().code == ErrorCode::unavailable);
  CHECK(built.error().message.find("was lost 3 times: n1 died") != std::string::npos);
  CHECK_FALSE(builder.cached(test::commit_name(1)).value());
}

}  // namespace torchwatch::builds
