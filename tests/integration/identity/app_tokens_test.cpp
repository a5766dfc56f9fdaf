#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "installed_app.hpp"
#include "torchwatch/github/github_api.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;

namespace {

const std::string kMakeToken =
    "POST /app/installations/" + std::to_string(kInstallation) + "/access_tokens";

/// Lists the issues with the App's tokens.
bool can_list(InstalledApp& world, identity::AppTokens& tokens) {
  github::GithubSettings settings;
  settings.repository = kRepository;
  settings.api = world.settings().api;
  settings.tokens = std::shared_ptr<github::TokenSource>(&tokens, [](auto*) {});
  const auto api = github::GithubApi::create(world.http, world.clock, settings).value();
  return api.get_page(api.address("/issues?state=all")).has_value();
}

}  // namespace

TEST_CASE("an App's token is made once, and again five minutes before it ends") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  const auto first = tokens.token({}).value();
  world.advance(54min);
  CHECK(tokens.token({}).value() == first);
  world.advance(2min);
  CHECK(tokens.token({}).value() != first);
  CHECK(world.asked(kMakeToken) == 2);
  CHECK(world.asked("GET /repos/owner/name/installation") == 1);
  world.require_no_violation();
}

TEST_CASE("an App's token may be of any length") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  CHECK(tokens.token({}).value().size() > 700);
  CHECK(can_list(world, tokens));
}

TEST_CASE("a token that ends before its time is made anew, and the request is sent once more") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  CHECK(can_list(world, tokens));
  world.core.with([](auto& core) { core.accounts.end_installation_tokens(); });
  CHECK(can_list(world, tokens));
  CHECK(world.asked(kMakeToken) == 2);
  CHECK(world.asked("GET /repos/owner/name/issues") == 3);
  world.require_no_violation();
}

TEST_CASE("a request that is refused with a new token, too, is not sent a third time") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  for (int i = 0; i < 2; ++i) {
    world.core.fail_next({.method = "GET", .status = 401, .path_part = "/issues"});
  }
  CHECK_FALSE(can_list(world, tokens));
  CHECK(world.asked("GET /repos/owner/name/issues") == 2);
}

TEST_CASE("a clock that is wrong by hours keeps an App from nothing") {
  for (const auto ahead : {-26h, -2h, 2h, 26h}) {
    for (const auto more : {0s, 130s, 500s}) {
      InstalledApp world(std::chrono::seconds(ahead) + more);
      identity::AppTokens tokens(world.http, world.clock, world.settings());
      CHECK(can_list(world, tokens));
      CHECK(world.asked("GET /repos/owner/name/installation") == 2);
      // What was learned is kept, and a token's end is counted in GitHub's time.
      world.advance(54min);
      CHECK(can_list(world, tokens));
      CHECK(world.asked(kMakeToken) == 1);
      world.advance(2min);
      CHECK(can_list(world, tokens));
      CHECK(world.asked(kMakeToken) == 2);
    }
  }
}

TEST_CASE("a clock that is a minute off needs no correction") {
  for (const auto ahead : {-50s, 0s, 50s}) {
    InstalledApp world(ahead);
    identity::AppTokens tokens(world.http, world.clock, world.settings());
    CHECK(can_list(world, tokens));
    CHECK(world.asked("GET /repos/owner/name/installation") == 1);
  }
}

TEST_CASE("a wrong key is named by its file, and by nothing of its text") {
  InstalledApp world;
  const auto other = test::make_rsa_key();
  world.write("app.pem", other.secret);
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  const auto token = tokens.token({});
  REQUIRE_FALSE(token);
  CHECK(token.error().is_for_all);
  CHECK_THAT(token.error().sentence, Catch::StartsWith("GitHub rejected the key of App 12345"));
  CHECK_THAT(token.error().sentence, Catch::Contains("app_key_file"));
  CHECK(world.asked("GET /repos/owner/name/installation") == 1);  // the clocks agree
}

TEST_CASE("a key that cannot sign, or that others may read, is not used") {
  InstalledApp world;
  world.write("app.pem", "-----BEGIN RSA PRIVATE KEY-----\nbm90IGEga2V5\n");
  identity::AppTokens broken(world.http, world.clock, world.settings());
  const auto no_key = broken.token({});
  REQUIRE_FALSE(no_key);
  CHECK_THAT(no_key.error().sentence, Catch::Contains("not a private RSA key in PEM"));
  CHECK_THAT(no_key.error().sentence, !Catch::Contains("bm90"));
  world.write("app.pem", world.key.secret, 0644);
  identity::AppTokens open(world.http, world.clock, world.settings());
  const auto readable = open.token({});
  REQUIRE_FALSE(readable);
  CHECK_THAT(readable.error().sentence, Catch::Contains("has mode 0644, others may read it"));
  CHECK(world.core.requests().empty());
}

TEST_CASE("a key that is replaced is used without a restart") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  REQUIRE(tokens.token({}));
  const auto next = test::make_rsa_key();
  world.core.with([&](auto& core) { core.accounts.app(kApp)->public_key = next.open; });
  world.write("app.pem", next.secret);
  world.advance(2h);
  CHECK(tokens.token({}));
}

TEST_CASE("an App that is installed nowhere says what to do") {
  InstalledApp world;
  world.core.with([](auto& core) { core.accounts.app(kApp)->installation = 0; });
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  const auto token = tokens.token({});
  REQUIRE_FALSE(token);
  CHECK_THAT(token.error().sentence,
             Catch::StartsWith("App 12345 is not installed in owner/name: install it there"));
}

TEST_CASE("an App that is installed again is found again") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  REQUIRE(tokens.token({}));
  world.core.with([](auto& core) { core.accounts.app(kApp)->installation = 999; });
  world.advance(2h);
  CHECK_FALSE(tokens.token({}));
  CHECK(tokens.token({}));
}

TEST_CASE("an installation that is configured is not asked for") {
  InstalledApp world;
  auto settings = world.settings();
  settings.installation = kInstallation;
  identity::AppTokens tokens(world.http, world.clock, settings);
  CHECK(tokens.token({}));
  CHECK(world.asked("GET /repos/owner/name/installation") == 0);
}

TEST_CASE("only what the App wrote is the App's") {
  InstalledApp world;
  identity::AppTokens tokens(world.http, world.clock, world.settings());
  const auto account = tokens.account({}).value();
  CHECK(account.login == "torchwatch[bot]");
  const auto user = [](const std::string& login, const std::string& type) {
    return nlohmann::json{{"user", {{"login", login}, {"id", 1}, {"type", type}}}};
  };
  CHECK(account.wrote(user("torchwatch[bot]", "Bot")));
  CHECK_FALSE(account.wrote(user("torchwatch[bot]", "User")));
  CHECK_FALSE(account.wrote(user("torchwatch", "User")));
  CHECK_FALSE(account.wrote(user("torchwatch2[bot]", "Bot")));
  CHECK_FALSE(account.wrote({{"user", nullptr}}));
  CHECK(tokens.account({}).value().login == "torchwatch[bot]");
  CHECK(world.asked("GET /app") == 1);
}
