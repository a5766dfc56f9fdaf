#include "torchwatch/daemon/daemon.hpp"

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "requests.hpp"
#include "running_service.hpp"
#include "test_repository.hpp"
#include "torchwatch/bisection/result.hpp"
#include "torchwatch/daemon/checks.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/alarm_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using test::is_over;
using test::kToken;
using Service = test::RunningService;

TEST_CASE("a daemon serves the API and the page for people on a free port") {
  Service service;
  service.start();
  CHECK(service.daemon->port() > 0);
  CHECK(service.get("/healthz").at("status") == "ok");
  CHECK(service.get("/api/v1/comparisons").at("comparisons").empty());
  const auto page = service.send("GET", "/");
  CHECK(page.status == 200);
  CHECK_THAT(page.body, Contains("<title>torchwatch</title>"));
}

TEST_CASE("a token is accepted as soon as it is stored, for its scopes, until it is revoked") {
  Service service;
  service.start();
  const std::string token = "tw_some-token-of-a-client";
  const json spec{{"name", "ci"}, {"scopes", "measure"}, {"sha256", http::hash_token(token)}};
  CHECK(service.send("POST", "/api/v1/nightlies", "{}", token).status == 401);
  REQUIRE(service.send("POST", "/api/v1/tokens", spec.dump()).status == 201);
  CHECK(service.send("POST", "/api/v1/nightlies", "{}", token).status == 202);
  CHECK(service.send("GET", "/api/v1/comparisons", "", token).status == 200);
  CHECK(service.send("POST", "/api/v1/tokens", spec.dump(), token).status == 403);
  CHECK(service.get("/api/v1/tokens").at("tokens").at(0).at("used_at").is_string());
  REQUIRE(service.send("POST", "/api/v1/tokens/1/revoke", "{}").status == 200);
  CHECK(service.send("GET", "/api/v1/comparisons", "", token).status == 401);
  CHECK(service.out.str().find(token) == std::string::npos);
}

TEST_CASE("a token file whose token can be guessed keeps the daemon from starting") {
  Service service;
  service.folder.write("token", "secret\n");
  auto application =
      daemon::Application::open(service.config, service.progress, service.log).value();
  const auto started = daemon::Daemon::start(*application);
  REQUIRE_FALSE(started);
  CHECK(started.error().code == ErrorCode::invalid);
  CHECK_THAT(started.error().message, Contains("16 characters") && !Contains("secret"));
}

TEST_CASE("a request is carried out and its result can be read") {
  Service service;
  service.start();
  service.work();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "done");
  CHECK(request.at("result").contains("note"));
}

TEST_CASE("a trigger that comes while a round is at work is answered by the next") {
  Service service;
  service.start();
  auto& application = *service.application;
  const auto path = service.ask("/api/v1/nightlies", json::object());
  CHECK(daemon::attend_next_request(application, daemon::Urgency::in_turn, {}) == false);
  CHECK(service.get(path).at("state") == "pending");
  REQUIRE(daemon::answer_triggers(application));
  CHECK(service.get(path).at("state") == "done");
}

TEST_CASE("what can never be carried out is refused before it is stored") {
  Service service;
  service.start();
  const auto detail = [&](const std::string& path, const json& body) {
    const auto refused = service.send("POST", path, body.dump());
    CHECK(refused.status == 422);
    return json::parse(refused.body).at("detail").get<std::string>();
  };
  const json builds{{"candidate", "nowhere"}, {"baseline", "2.13.0"}};
  CHECK_THAT(detail("/api/v1/nightlies", builds), Contains("unknown build \"nowhere\""));
  CHECK_THAT(detail("/api/v1/comparisons", builds), Contains("unknown build \"nowhere\""));
  CHECK_THAT(detail("/api/v1/bisections", {{"suspect", "abc123"}}),
             Contains("set [source] repository"));
  CHECK_THAT(
      detail("/api/v1/comparisons",
             {{"candidate", "2.13.0"}, {"baseline", "2.12.1"}, {"workloads", {"tts_anglar"}}}),
      Contains("did you mean tts_angular"));
  CHECK(service.get("/api/v1/requests").at("requests").empty());
}

TEST_CASE("a request whose build is unknown when its turn comes fails with what was looked for") {
  Service service;
  service.start();
  const auto path =
      service.store(storage::RequestKind::nightly, {{"candidate", "nowhere"}, {"baseline", "x"}});
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "refused");
  CHECK_THAT(request.at("result").at("error").get<std::string>(), Contains("nowhere"));
}

TEST_CASE("a request over TCP cannot name a folder of the machine") {
  Service service;
  service.start();
  const auto folder = service.folder.path().string();
  const json body{{"candidate", folder}, {"baseline", folder}};
  const auto refused = service.send("POST", "/api/v1/nightlies", body.dump());
  CHECK(refused.status == 422);
  CHECK_THAT(refused.body, Contains("must be a build of the channel or a release"));
  const auto path = service.store(storage::RequestKind::nightly, body);
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "refused");
  CHECK_THAT(request.at("result").at("error").get<std::string>(),
             Contains("must be a build of the channel or a release"));
}

TEST_CASE("the machine is free for commands that measure while nothing is due") {
  Service service;
  service.start();
  service.work();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  service.wait_until(path, is_over);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  auto lock = executor::MachineLock::acquire(service.config.executor.machine_lock);
  while (!lock && std::chrono::steady_clock::now() < limit) {
    lock = executor::MachineLock::acquire(service.config.executor.machine_lock);
  }
  REQUIRE(lock);
  // What is asked for meanwhile waits for as long as that takes.
  const auto waiting =
      service.store(storage::RequestKind::nightly, {{"candidate", "nowhere"}, {"baseline", "x"}});
  CHECK(service.get(waiting).at("state") == "pending");
  const auto health = service.get("/healthz");
  CHECK(health.at("status") == "ok");
  CHECK_FALSE(health.contains("problems"));
  CHECK(health.at("version").is_string());
  CHECK(health.at("free_cache_bytes") > 0);
}

TEST_CASE("a request that is refused keeps nothing behind it from being done") {
  Service service;
  service.start();
  const json unknown{{"candidate", "nowhere"}, {"baseline", "x"}};
  const auto first = service.store(storage::RequestKind::nightly, unknown);
  const auto second = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  const auto third = service.ask("/api/v1/nightlies", json::object());
  service.work();
  CHECK(service.wait_until(first, is_over).at("state") == "refused");
  CHECK(service.wait_until(second, is_over).at("state") == "refused");
  CHECK(service.wait_until(third, is_over).at("state") == "done");
  CHECK(service.get("/healthz").at("status") == "ok");
}

TEST_CASE("settings of [github] that cannot work keep no request from being carried out") {
  Service service;
  service.config.github.repository = "no-slash";
  service.config.github.token_file = service.config.web.token_file;
  service.start();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  service.work();
  CHECK(service.wait_until(path, is_over).at("state") == "done");
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("problems").at(0).at("source") == "outbox");
}

TEST_CASE("a token of GitHub that is missing keeps no daemon from starting") {
  Service service;
  service.config.github.repository = "owner/name";
  service.config.github.token_file = service.folder.path() / "github-token";
  service.start();
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("problems").at(0).at("source") == "outbox");
}

TEST_CASE("a request that took the service down three times has failed") {
  Service service;
  service.start();
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  for (int i = 0; i < 3; ++i) {
    storage::RequestStore requests(service.application->services().database);
    REQUIRE(service.get(path).at("state") == "pending");
    REQUIRE(requests.claim(1));
    service.stop();
    service.start();
  }
  CHECK(service.get(path).at("state") == "failed");
  CHECK_THAT(service.get(path).at("result").at("error").get<std::string>(),
             Contains("the service ended while it worked on this"));
}

TEST_CASE("a request that was put off carries on the bisection that it opened") {
  Service service;
  test::TestRepository repository(service.folder.path() / "pytorch");
  const auto parent = repository.commit("first");
  const auto suspect = repository.commit("second");
  service.config.source.repository = repository.path();
  service.config.build.recipe = "/bin/true";
  service.start();
  const auto path =
      service.ask("/api/v1/bisections", {{"suspect", suspect}, {"workloads", {"resnet18"}}});
  auto& database = service.application->services().database;
  storage::BisectionStore bisections(database);
  storage::BisectionRow row;
  row.good = parent;
  row.bad = suspect;
  const auto opened = bisections.open(row).value();
  REQUIRE(bisections.end(opened, to_json(bisection::BisectionResult{}), 1));
  REQUIRE(storage::RequestStore(database).note(1, json{{"bisection", opened.id}}.dump()));
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "done");
  CHECK(request.at("result").at("bisection") == opened.id);
  CHECK(bisections.list(10).value().size() == 1);
}

TEST_CASE("a request that came before a restart is carried out after it") {
  Service service;
  service.start();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  CHECK(service.get(path).at("state") == "pending");
  service.stop();
  service.start();
  service.work();
  CHECK(service.wait_until(path, is_over).at("state") == "done");
}

TEST_CASE("a channel that cannot be read makes the daemon unhealthy, not dead") {
  Service service;
  std::filesystem::remove(service.config.channel.path);
  service.start();
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("status") == "failing");
  CHECK(health.at("problems").at(0).at("source") == "channel");
  CHECK(health.at("problems").at(0).at("since").is_string());
  CHECK_THAT(health.at("problems").at(0).at("detail").get<std::string>(),
             Contains(service.config.channel.path.string()));
  CHECK(service.get("/api/v1/incidents").at("incidents").empty());
  service.worker = {};
  CHECK(service.status);
}

TEST_CASE("a database that is deleted under the daemon stops it, instead of losing what comes") {
  Service service;
  service.start();
  const auto& path = service.config.storage.path;
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + part);
  const auto refused = service.send("POST", "/api/v1/nightlies", "{}");
  CHECK(refused.status >= 500);
  service.work();
  service.worker.join();
  REQUIRE_FALSE(service.status);
  CHECK(service.status.error().code == ErrorCode::damaged);
  CHECK_THAT(service.status.error().message,
             Contains(path.string()) && Contains("restore a backup"));
}

TEST_CASE("stored rows that break a rule make an idle daemon unhealthy") {
  Service service;
  service.start();
  {
    SQLite::Database raw(service.config.storage.path.string(), SQLite::OPEN_READWRITE);
    raw.exec(
        "PRAGMA ignore_check_constraints = ON; INSERT INTO build (origin, name, state) "
        "VALUES ('folder', 'b', 'ready')");
  }
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("problems").at(0).at("source") == "database");
  service.worker = {};
  CHECK(service.status);
  CHECK_THAT(service.out.str(), Contains("ready_build_is_verified"));
}

TEST_CASE("nightlies that stay away raise an alarm with an issue, which ends when one comes") {
  Service service;
  service.config.channel.poll = std::chrono::seconds(1);
  service.config.alarm.no_self_test = std::chrono::seconds(0);
  service.start();
  auto& services = service.application->services();
  storage::ComparisonStore comparisons(services.database);
  const auto nightly = [&](const std::string& name, storage::WallMillis at) {
    storage::BuildStore builds(services.database);
    const auto build = builds.discover(storage::BuildOrigin::nightly, name).value();
    const auto row =
        comparisons.open({.purpose = storage::Purpose::nightly, .candidate = build.id}, at).value();
    REQUIRE(comparisons.advance(row, storage::ComparisonState::accepted, at));
  };
  nightly("n1", 1000);
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("status") == "degraded");
  CHECK(health.at("problems").at(0).at("source") == "alarm");
  CHECK(health.at("problems").at(0).at("item") == "no_nightly");
  nightly("n2", services.clock.wall_now());
  service.wait_until("/healthz", [](const json& body) { return !body.contains("problems"); });
  const auto messages = storage::IncidentStore(services.database).unsent().value();
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].title == "torchwatch alarm: no nightly has come");
  CHECK_THAT(messages[0].body, Contains("since 1970-01-01"));
  CHECK(messages[1].kind == storage::OutboxKind::close);
}

TEST_CASE("a full disk is a problem of the whole service, and no work is begun on it") {
  Service service;
  service.config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  service.start();
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("status") == "failing");
  CHECK(health.at("problems").at(0).at("source") == "disk");
  CHECK_THAT(health.at("problems").at(0).at("detail").get<std::string>(),
             Contains(service.config.build.cache.string()) && Contains("disk_reserve"));
  CHECK(service.get(path).at("state") == "pending");
}

TEST_CASE("a second daemon on the same database is refused") {
  Service service;
  service.start();
  const auto second = daemon::Application::open(service.config, service.progress, service.log);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
}

TEST_CASE("the log has start, requests and end of a daemon, and never a token") {
  Service service;
  service.start();
  const std::string listening = "http://127.0.0.1:" + std::to_string(service.daemon->port());
  service.work();
  service.wait_until(service.ask("/api/v1/nightlies", json::object()), is_over);
  CHECK(service.send("POST", "/api/v1/nightlies", "{}", "wrong-token-5678").status == 401);
  service.application->log().logger("test").error(std::string("somebody logs ") + kToken);
  service.stop();
  const auto text = service.out.str();
  CHECK_THAT(text, Contains(listening) && Contains("\"stopped\""));
  CHECK_THAT(text, Contains("\"status\":202") && Contains("\"status\":401"));
  CHECK_THAT(text, Contains("somebody logs [redacted]"));
  CHECK_THAT(text, !Contains(kToken) && !Contains("wrong-token"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(json::accept(line));
}

TEST_CASE("check says when an issue was last delivered, and what was not") {
  Service service;
  service.config.github.repository = "pytorch/pytorch";
  service.config.github.api = "http://127.0.0.1:1";
  service.application =
      daemon::Application::open(service.config, service.progress, service.log).value();
  auto& database = service.application->services().database;
  const auto found = [&] {
    const auto results = daemon::check_all(service.config);
    const auto result = std::ranges::find_if(
        results, [](const daemon::CheckResult& each) { return each.what == "delivery of issues"; });
    return result == results.end() ? "" : result->found;
  };
  CHECK(found() == "none yet, nothing waits");
  storage::AlarmStore alarms(database);
  storage::AlarmRow alarm;
  alarm.cause = storage::AlarmCause::no_nightly;
  alarm.since = alarm.raised_at = 1;
  storage::OutboxRow message;
  message.key = message.title = message.body = "k";
  REQUIRE(alarms.raise(alarm, message));
  CHECK(found() == "none yet, 1 not sent");
  storage::IncidentStore incidents(database);
  REQUIRE(incidents.mark_sending("k"));
  REQUIRE(incidents.mark_sent("k", 7, 1'786'935'845'000));
  CHECK(found() == "the last one at 2026-08-17 03:04, nothing waits");
}
