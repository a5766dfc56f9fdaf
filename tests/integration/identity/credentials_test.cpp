#include <catch2/catch.hpp>

#include "installed_app.hpp"

using namespace torchwatch;

namespace {

Result<std::unique_ptr<identity::Credentials>> opened(InstalledApp& world,
                                                      const config::Config& config) {
  return identity::Credentials::open(config, world.http, world.clock, [](const std::string&) {});
}

std::string refused(InstalledApp& world, const config::Config& config) {
  const auto credentials = opened(world, config);
  REQUIRE_FALSE(credentials);
  CHECK(credentials.error().code == ErrorCode::invalid);
  return credentials.error().text();
}

}  // namespace

TEST_CASE("an App and a token exclude one another, and one of them is needed") {
  InstalledApp world;
  auto both = world.config();
  both.github.token_file = "/etc/token";
  CHECK_THAT(refused(world, both), Catch::StartsWith("[github] has both token_file and app_id"));
  auto half = world.config();
  half.github.app_key_file.clear();
  CHECK_THAT(refused(world, half), Catch::Contains("app_id is set but app_key_file is not"));
  auto none = world.config();
  none.github.app_id = 0;
  CHECK_THAT(refused(world, none), Catch::Contains("neither token_file"));
}

TEST_CASE("a token file that changes is read anew, and its token is hidden first") {
  InstalledApp world;
  const auto config = world.config_with_token("github_pat_first");
  std::vector<std::string> hidden;
  const auto credentials =
      identity::Credentials::open(config, world.http, world.clock, [&](const std::string& token) {
        hidden.push_back(token);
      }).value();
  CHECK(credentials->tokens()->token({}).value() == "github_pat_first");
  CHECK(credentials->refresh().value() == 1);
  world.write("token", "github_pat_second");
  CHECK(credentials->refresh().value() == 2);
  CHECK(credentials->tokens()->token({}).value() == "github_pat_second");
  CHECK(hidden == std::vector<std::string>{"github_pat_first", "github_pat_second"});
}

TEST_CASE("a token that cannot be read yet is waited for") {
  InstalledApp world;
  auto config = world.config_with_token("github_pat_first");
  std::filesystem::remove(config.github.token_file);
  const auto credentials = opened(world, config).value();
  CHECK_FALSE(credentials->refresh());
  world.write("token", "github_pat_late");
  CHECK(credentials->refresh().value() == 1);
}

TEST_CASE("the account of another token is asked for anew") {
  InstalledApp world;
  world.core.with([](auto& core) {
    core.accounts.add_token("github_pat_first", {.login = "first", .id = 1});
    core.accounts.add_token("github_pat_second", {.login = "second", .id = 2});
  });
  const auto credentials = opened(world, world.config_with_token("github_pat_first")).value();
  CHECK(credentials->tokens()->account({}).value().login == "first");
  CHECK(credentials->tokens()->account({}).value().id == 1);
  CHECK(world.asked("GET /user") == 1);
  world.write("token", "github_pat_second");
  CHECK(credentials->refresh().value() == 2);
  CHECK(credentials->tokens()->account({}).value().login == "second");
  world.require_no_violation();
}

TEST_CASE("the token of an installation that was made elsewhere is some App's") {
  InstalledApp world;
  const auto token = world.core.with(
      [](auto& core) { return core.accounts.make_token(*core.accounts.app(kApp)).first; });
  const auto credentials = opened(world, world.config_with_token(token)).value();
  const auto account = credentials->tokens()->account({}).value();
  CHECK(account.login.empty());
  CHECK(account.is_bot);
}
