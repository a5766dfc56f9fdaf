// What a daemon says of itself, to clients and to its log.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measured_nodes.hpp"
#include "running_service.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/health/problem.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/storage/daemon_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using test::is_over;
using Service = test::RunningService;

TEST_CASE("what waits is known as soon as the daemon serves, and ends with its item") {
  Service service;
  service.start();
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  auto* database = &service.application->services().database;
  REQUIRE(storage::SetbackStore(*database).record(
      {.key = {storage::ItemKind::request, "1"}, .since = 1000, .error = "no network"}));
  service.stop();
  service.start();
  const auto health = service.get("/healthz");
  CHECK(health.at("status") == "degraded");
  CHECK(health.at("problems").at(0).at("item") == "1");
  CHECK_THAT(health.at("problems").at(0).at("detail").get<std::string>(), Contains("no network"));
  REQUIRE(service.send("POST", path + "/cancel", "{}").status == 200);
  CHECK(service.get("/healthz").at("status") == "ok");
}

TEST_CASE("why a message waits, and which one was given up, is known after a restart, too") {
  Service service;
  service.config.github.repository = "owner/name";
  service.config.github.token_file = service.config.web.token_file;
  service.start();
  storage::OutboxRow message;
  message.key = message.title = message.body = "k";
  auto& database = service.application->services().database;
  REQUIRE(storage::AlarmStore(database).raise(
      {.cause = storage::AlarmCause::no_verdict, .since = 1, .raised_at = 1, .issue_number = {}},
      message));
  const auto fail_delivery = [&](bool give_up) {
    storage::OutboxStore outbox(service.application->services().database);
    const auto now = service.application->services().clock.wall_now();
    REQUIRE(outbox.mark_sending("k"));
    REQUIRE(outbox.record_failure("k", {.error = "GitHub is down",
                                        .failures = 3,
                                        .not_before = give_up ? 1'786'935'845'000 : now + 600'000,
                                        .give_up = give_up}));
  };
  const auto told = [](const json& health) {
    const auto problems = health.value("problems", json::array());
    const auto found = std::ranges::find_if(
        problems, [](const json& each) { return each.at("source") == "outbox"; });
    return found == problems.end() ? json() : *found;
  };
  fail_delivery(false);
  service.stop();
  service.start();
  service.work();
  const auto waits =
      service.wait_until("/healthz", [&](const json& health) { return !told(health).is_null(); });
  CHECK(told(waits).at("item").is_null());
  CHECK(told(waits).at("detail") == "GitHub is down");
  service.stop();
  service.start();
  fail_delivery(true);
  const auto given_up = told(service.get("/healthz"));
  CHECK(given_up.at("item") == "1");
  CHECK(given_up.at("since") == "2026-08-17T03:04:05Z");
  CHECK(service.get("/api/v1/outbox").at("messages").at(0).at("not_before").is_null());
  CHECK_THAT(given_up.at("detail").get<std::string>(), Contains("torchwatch outbox retry k"));
}

TEST_CASE("messages that wait for a right of the token are one wait, since the first and why") {
  Service service;
  service.start();
  storage::OutboxStore outbox(service.application->services().database);
  for (const std::string key : {"a", "b"}) {
    storage::OutboxRow message;
    message.key = key;
    message.kind = storage::OutboxKind::status;
    message.target = "commit/" + std::string(40, key.front());
    message.body = "{}";
    REQUIRE(outbox.queue(message));
    REQUIRE(outbox.mark_sending(key));
    REQUIRE(outbox.record_failure(
        key, {.error = std::string(storage::kWaitsAlone) + "it needs Commit statuses: write",
              .failures = 1,
              .not_before = 4'000'000'000'000}));
  }
  storage::OutboxWaits waits(service.application->services().database);
  REQUIRE(waits.note(1'786'935'845'000));
  REQUIRE(waits.note(1'786'999'999'000));
  const auto health = service.get("/healthz");
  CHECK(health.at("status") == "degraded");
  REQUIRE(health.at("problems").size() == 1);
  const auto& problem = health.at("problems").at(0);
  CHECK(problem.at("source") == "outbox");
  CHECK(problem.at("since") == "2026-08-17T03:04:05Z");
  CHECK_THAT(problem.at("detail").get<std::string>(),
             Contains("a and 1 more wait: others are sent meanwhile: it needs Commit statuses"));
  const auto listed = service.get("/api/v1/outbox").at("messages");
  REQUIRE(listed.size() == 2);
  for (const auto& message : listed) CHECK(message.at("since") == "2026-08-17T03:04:05Z");
}

TEST_CASE("a disk that cannot be written is a problem while nothing else is written") {
  Service service;
  const auto& database = service.config.storage.path;
  const std::filesystem::path in_the_way = database.string() + ".probe";
  service.start();
  std::filesystem::create_directories(in_the_way / "where a file should be");
  service.work();
  const auto health =
      service.wait_until("/healthz", [](const json& body) { return body.contains("problems"); });
  CHECK(health.at("status") == "failing");
  CHECK(health.at("problems").at(0).at("source") == "database_disk");
  CHECK(health.at("problems").at(0).at("since").is_string());
  CHECK_THAT(health.at("problems").at(0).at("detail").get<std::string>(),
             Contains(in_the_way.string()));
  CHECK_THAT(service.send("GET", "/metrics").body,
             Contains("torchwatch_problems{source=\"database_disk\"} 1"));
  std::filesystem::remove_all(in_the_way);
  service.ask("/api/v1/nightlies", json::object());  // wakes the daemon
  service.wait_until("/healthz", [](const json& body) { return !body.contains("problems"); });
  service.stop();
  CHECK_THAT(service.out.str(), Contains("database_disk works again"));
  CHECK_FALSE(std::filesystem::exists(in_the_way));
}

TEST_CASE("a node that differs from its class is a problem that says how to leave it out") {
  Service service;
  service.start();
  test::store_nightlies(service.application->services().database, {.factors = {1, 1.3}});
  service.work();
  const auto told = [](const json& body) {
    for (const auto& problem : body.value("problems", json::array())) {
      if (problem.at("source") == "nodes") return problem;
    }
    return json();
  };
  const auto health =
      service.wait_until("/healthz", [&](const json& body) { return !told(body).is_null(); });
  CHECK(health.at("status") == "degraded");
  const auto problem = told(health);
  CHECK(problem.at("item").is_null());
  CHECK_THAT(problem.at("detail").get<std::string>(),
             Contains("node n2 of the class Model X, 2 cores takes ") &&
                 Contains(R"(options = ["--exclude=n2"] of [slurm])"));
  CHECK_THAT(service.send("GET", "/metrics").body,
             Contains("torchwatch_problems{source=\"nodes\"} 1"));
  service.stop();
  CHECK_THAT(service.out.str(), Contains("nodes: node n2"));
}

TEST_CASE("a disk on which nothing can be made is not taken for one that can be written") {
  config::Config config;
  config.storage.path = "/proc/torchwatch.sqlite";
  CHECK_FALSE(health::require_writable_disk(config));
}

TEST_CASE("a daemon notes when it began and stopped") {
  Service service;
  service.start();
  const auto times = [&] {
    const auto reader =
        storage::Database::open({.path = service.config.storage.path, .read_only = true}).value();
    return storage::DaemonStore(*reader).last().value();
  };
  REQUIRE(times());
  CHECK_FALSE(times()->stopped_at);
  service.work();
  service.worker = {};
  CHECK(times()->stopped_at);
}

TEST_CASE("the caches are brought to their limit when somebody asks for it") {
  Service service;
  service.config.build.cache_limit_bytes = 0;
  service.start();
  const auto kit = service.config.build.cache / "kits" / "a";
  const auto add_kit = [&] {
    std::filesystem::create_directories(kit);
    std::ofstream(kit / "file") << "x";
  };
  const auto wait_until_gone = [&] {
    service.wait_until("/healthz", [&](const json&) { return !std::filesystem::exists(kit); });
  };
  add_kit();
  service.work();
  wait_until_gone();  // the daily round, which does not come again here
  add_kit();
  const auto asked = service.send("POST", "/api/v1/database/gc", "{}");
  CHECK(asked.status == 202);
  wait_until_gone();
  service.stop();
  CHECK_THAT(service.out.str(), Contains("caches tidied"));
}

TEST_CASE("a nightly that is rejected is logged once, however often it is looked at") {
  Service service;
  const auto broken = service.config.channel.path / "2026-08-17";
  std::filesystem::create_directories(broken);
  std::ofstream(broken / "build-hash") << "abc\n";
  service.start();
  service.work();
  for (int i = 0; i < 3; ++i) {
    service.wait_until(service.ask("/api/v1/nightlies", json::object()), is_over);
  }
  service.stop();
  const auto count = [text = service.out.str()](const std::string& part) {
    int number = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
    return number;
  };
  CHECK(count("fetch started") >= 2);
  CHECK(count("fetch failed") == 1);
  CHECK(count("2026-08-17 is refused") == 1);
  CHECK(count("2026-08-17 rejected") == 0);
}

TEST_CASE("that somebody else measures is logged once, and its end") {
  Service service;
  service.config.channel.poll = std::chrono::seconds(1);
  auto lock = executor::MachineLock::acquire(service.config.executor.machine_lock);
  REQUIRE(lock);
  service.start();
  service.work();
  for (int i = 0; i < 3; ++i) {
    service.wait_until(service.ask("/api/v1/nightlies", json::object()), is_over);
  }
  lock = fail(ErrorCode::cancelled, "released");
  service.wait_until(service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}}),
                     is_over);
  service.stop();
  const auto text = service.out.str();
  const auto first = text.find("waiting: ");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("waiting: ", first + 1) == std::string::npos);
  CHECK_THAT(text, Contains("the machine is free again"));
}
