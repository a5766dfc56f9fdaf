#include "torchwatch/identity/account_check.hpp"

#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "installed_app.hpp"

using namespace torchwatch;
using Severity = identity::AccountFact::Severity;

namespace {

struct Checked {
  std::vector<identity::AccountFact> facts;
  const identity::AccountFact& of(const std::string& what) const {
    for (const auto& fact : facts) {
      if (fact.what == "[github]" + what) return fact;
    }
    FAIL("nothing is said of " << what);
    return facts.front();
  }
};

Checked check(InstalledApp& world, const config::Config& config) {
  return {identity::check_account(config, world.http, world.clock)};
}

void change_rights(InstalledApp& world, const test::GithubPermissions& permissions) {
  world.core.with([&](auto& core) { core.accounts.app(kApp)->permissions = permissions; });
}

}  // namespace

TEST_CASE("of an App its name, its permissions and what is left this hour are said") {
  InstalledApp world;
  const auto checked = check(world, world.config());
  REQUIRE(checked.facts.size() == 3);
  CHECK(checked.of(" account").found == "torchwatch[bot], the App 12345");
  CHECK(checked.of(" permissions").found ==
        "checks: write, issues: write, metadata: read, statuses: write in owner/name");
  CHECK_THAT(checked.of(" requests left").found, Catch::EndsWith(" UTC"));
  for (const auto& fact : checked.facts) CHECK(fact.severity == Severity::good);
  world.require_no_violation();
}

TEST_CASE("a permission that an App lacks is an error or a warning, with its remedy") {
  InstalledApp world;
  change_rights(world, {{"issues", "read"}, {"metadata", "read"}});
  const auto none = check(world, world.config()).of(" permissions");
  CHECK(none.severity == Severity::error);
  CHECK_THAT(none.remedy, Catch::StartsWith("it needs Issues: read and write"));
  change_rights(world, {{"issues", "write"}, {"statuses", "write"}});
  const auto some = check(world, world.config()).of(" permissions");
  CHECK(some.severity == Severity::warning);
  CHECK_THAT(some.found, Catch::EndsWith("commits get no check runs"));
  CHECK_THAT(some.remedy, Catch::Contains("Checks: read and write"));
}

TEST_CASE("an installation that is not the repository's is an error") {
  InstalledApp world;
  auto config = world.config();
  config.github.installation = kInstallation + 1;
  const auto checked = check(world, config);
  CHECK(checked.of(" permissions").severity == Severity::error);
  CHECK_THAT(checked.of(" permissions").found, Catch::Contains("is not the one of owner/name"));
}

TEST_CASE("of a token its account is said, and whether it may file") {
  InstalledApp world;
  const auto config = world.config_with_token("github_pat_1");
  world.core.with(
      [](auto& core) { core.accounts.add_token("github_pat_1", {.login = "machine", .id = 3}); });
  const auto checked = check(world, config);
  CHECK(checked.of(" account").found == "machine, by a token");
  CHECK(checked.of(" permissions").found == "may file and close issues in owner/name");
  world.core.with([](auto& core) {
    core.accounts.add_token("github_pat_1", {.login = "machine", .id = 3},
                            test::GithubPermissions{{"metadata", "read"}});
  });
  CHECK(check(world, config).of(" permissions").severity == Severity::warning);
}

TEST_CASE("a budget that is nearly used up is a warning") {
  InstalledApp world;
  for (int i = 0; i < 10; ++i) {
    CHECK(check(world, world.config()).of(" requests left").severity == Severity::good);
  }
  world.core.with([](auto& core) {
    core.quota.set({.requests_per_hour = core.quota.used() + 5,
                    .content_per_minute = 80,
                    .content_per_hour = 500});
  });
  const auto left = check(world, world.config()).of(" requests left");
  CHECK(left.severity == Severity::warning);
  CHECK_FALSE(left.remedy.empty());
}

TEST_CASE("what GitHub refuses is an error, and what it cannot answer is not known") {
  InstalledApp world;
  const auto config = world.config_with_token("github_pat_1");
  const auto first = [&](int status) {
    test::FakeHttpClient client([&](const auto&) -> Result<platform::HttpResponse> {
      return test::answer(status, R"({"message": "planted"})");
    });
    return identity::check_account(config, client, world.clock).front();
  };
  for (const int status : {401, 403, 404}) {
    CHECK(first(status).severity == Severity::error);
    CHECK_FALSE(first(status).remedy.empty());
  }
  for (const int status : {429, 500, 502, 503}) CHECK(first(status).severity == Severity::unknown);
  test::FakeHttpClient nobody([](const auto&) -> Result<platform::HttpResponse> {
    return fail(ErrorCode::unavailable, "no connection");
  });
  CHECK(identity::check_account(config, nobody, world.clock).front().severity == Severity::unknown);
}

TEST_CASE("without a repository nothing is asked, and a secret that cannot be used is an error") {
  InstalledApp world;
  CHECK(check(world, {}).of("").severity == Severity::warning);
  CHECK(world.core.requests().empty());
  const auto config = world.config_with_token("two\nlines");
  const auto checked = check(world, config).of(" account");
  CHECK(checked.severity == Severity::error);
  CHECK_THAT(checked.found, Catch::Contains("is not one line of text"));
  CHECK_THAT(checked.found, !Catch::Contains("two"));
  CHECK(world.core.requests().empty());
}
