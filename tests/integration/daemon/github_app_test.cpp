// A daemon that is a GitHub App: what it files, and what nobody gets to see of how.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "everything_served.hpp"
#include "fake_github.hpp"
#include "file_content.hpp"
#include "github/description.hpp"
#include "running_service.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

constexpr int kApp = 12345;

struct AppService : test::RunningService {
  AppService() {
    config.alarm = {.no_nightly = {}, .no_verdict = {}, .no_delivery = {}, .no_self_test = {}};
    config.github.repository = "owner/name";
    config.github.api = github.url();
    config.github.app_id = kApp;
    config.github.app_key_file = folder.write("app.pem", key.secret);
    std::filesystem::permissions(config.github.app_key_file, std::filesystem::perms::owner_read);
    github.core().with([&](auto& core) {
      core.accounts.add_app({.id = kApp, .public_key = key.open, .installation = 1});
    });
  }
  ~AppService() { stop(); }

  /// Stores an incident and the message that opens its issue.
  void open_incident(const std::string& key_of_it) {
    auto& database = application->services().database;
    REQUIRE(database.transact([&]() -> Status {
      TW_TRY(const auto build, storage::BuildStore(database).discover(storage::BuildOrigin::nightly,
                                                                      "build-" + key_of_it));
      TW_TRY(const auto comparison,
             storage::ComparisonStore(database).open(
                 {.purpose = storage::Purpose::nightly, .candidate = build.id, .baseline = {}}, 1));
      storage::IncidentRow row;
      row.comparison = comparison.id;
      row.key = key_of_it;
      row.title = "resnet18 is slower";
      row.opened_at = application->services().clock.wall_now();
      TW_TRY(const auto incident, storage::IncidentStore(database).open(row));
      storage::OutboxRow message;
      message.key = "open-" + key_of_it;
      message.incident = incident.id;
      message.title = row.title;
      message.body = "Slower.";
      return storage::OutboxStore(database).queue(message);
    }));
  }

  void look() { RunningService::look(real.wall_now()); }

  test::RsaKey key = test::make_rsa_key();
  platform::SystemClock real;
  test::FakeGithub github{"owner/name", "a token of somebody", test::github_description(), &real};
};

}  // namespace

TEST_CASE("the threads of a daemon write to GitHub in turn, and share what they have of it") {
  AppService service;
  service.start();
  auto& github = service.application->github();
  const auto of_deliveries = github.settings().value();
  const auto of_comments = github.settings().value();
  const auto of_pulls = github.settings_of_commits().value();
  CHECK(of_deliveries.traffic == of_comments.traffic);
  CHECK(of_deliveries.traffic == of_pulls.traffic);
}

TEST_CASE("a daemon files as its App, and no page, answer, log or file has a secret of it") {
  AppService service;
  service.start();
  service.open_incident("first");
  service.work();
  service.look();
  const auto issues = service.github.issues();
  REQUIRE(issues.size() == 1);
  CHECK(issues.front().author.login == "torchwatch[bot]");

  const auto token =
      service.github.core().with([](auto& core) { return core.accounts.made_tokens().front(); });
  test::Fault echo{.method = "GET", .status = 502};
  echo.message = "bad gateway; you sent: Authorization: Bearer " + token;
  echo.path_part = "/issues";
  service.github.fail_next(echo);
  service.open_incident("second");
  service.wait_until("/healthz", [](const json& health) { return health.contains("problems"); });
  const auto served = everything_served(service);
  CHECK(served.failed == std::vector<std::string>{});
  CHECK(served.content_types.at("text/html") > 20);
  std::string seen = served.text;
  CHECK_THAT(seen, Catch::Contains("bad gateway"));
  seen += test::content_of(service.config.storage.path.string() + "-wal");
  service.stop();
  seen += service.out.str();
  seen += test::content_of(service.config.storage.path);

  std::set<std::string> secrets{token};
  service.github.core().with([&](auto& core) {
    for (const auto& made : core.accounts.made_tokens()) secrets.insert(made);
    for (const auto& jwt : core.accounts.seen_jwts()) secrets.insert(jwt.substr(jwt.rfind('.')));
  });
  std::istringstream lines(service.key.secret);
  for (std::string line; std::getline(lines, line);) secrets.insert(line);
  for (const auto& secret : secrets) CHECK(seen.find(secret) == std::string::npos);
}
