#include "torchwatch/daemon/daemon.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "raw_sql.hpp"
#include "running_service.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/http_client.hpp"

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

namespace {

bool tells_of_outbox(const json& health) {
  const auto problems = health.value("problems", json::array());
  return std::ranges::any_of(problems,
                             [](const json& problem) { return problem.at("source") == "outbox"; });
}

}  // namespace

TEST_CASE("settings of [github] that cannot work keep no request from being carried out") {
  Service service;
  service.config.github.repository = "no-slash";
  service.config.github.token_file = service.config.web.token_file;
  service.start();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  service.work();
  CHECK(service.wait_until(path, is_over).at("state") == "done");
  service.wait_until("/healthz", tells_of_outbox);
}

TEST_CASE("a token of GitHub that is missing keeps no daemon from starting") {
  Service service;
  service.config.github.repository = "owner/name";
  service.config.github.token_file = service.folder.path() / "github-token";
  service.start();
  service.work();
  service.wait_until("/healthz", tells_of_outbox);
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
  CHECK_THAT(service.status.error().text(),
             Contains(path.string()) && Contains("restore a backup"));
}

TEST_CASE("stored rows that break a rule make an idle daemon unhealthy") {
  Service service;
  service.start();
  test::raw_sql(service.config.storage.path,
                "INSERT INTO build (origin, name, state) VALUES ('folder', 'b', 'ready')");
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
  const auto nightly = [&](const std::string& name, storage::WallMillis at) {
    service.add_ended(storage::Purpose::nightly, name, storage::ComparisonState::accepted, at);
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
  const auto messages = storage::OutboxStore(services.database).unsent().value();
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].title == "torchwatch alarm: no nightly has come");
  CHECK_THAT(messages[0].body, Contains("since 1970-01-01"));
  CHECK(messages[1].kind == storage::OutboxKind::close);
}

TEST_CASE("a full disk is a problem of the whole service, and no work is begun on it") {
  Service service;
  service.config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  service.folder.write("nightlies/damaged/build-hash", std::string(40, '0'));
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
  CHECK(service.get("/api/v1/builds").at("builds").at(0).at("state") == "discovered");
}

TEST_CASE("no nightly is fetched and checked while somebody else measures on the machine") {
  Service service;
  service.folder.write("nightlies/damaged/build-hash", std::string(40, '0'));
  auto held = std::optional(executor::MachineLock::acquire(service.config.executor.machine_lock));
  REQUIRE(*held);
  service.start();
  service.work();
  const auto state = [](const json& body) { return body.at("builds").at(0).at("state"); };
  service.wait_until("/api/v1/builds", [](const json& body) { return !body.at("builds").empty(); });
  for (int round = 0; round < 2; ++round) {  // the second is answered after the first one's look
    service.wait_until(service.ask("/api/v1/nightlies", json::object()), is_over);
  }
  CHECK(state(service.get("/api/v1/builds")) == "discovered");
  held.reset();
  service.ask("/api/v1/nightlies", json::object());
  service.wait_until("/api/v1/builds", [&](const json& body) { return state(body) == "rejected"; });
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
