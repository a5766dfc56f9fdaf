#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "temporary_folder.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::test {

inline constexpr const char* kToken = "a-token-for-tests-1234";

inline bool is_over(const nlohmann::json& request) {
  return request.at("state") != "pending" && request.at("state") != "running";
}

/// A daemon on a free port over a fresh database, with a channel without builds.
struct RunningService {
  RunningService() {
    config.storage.path = folder.path() / "state" / "torchwatch.sqlite";
    config.channel.path = folder.path() / "nightlies";
    config.build.cache = folder.path() / "builds";
    config.executor.scratch = folder.path() / "scratch";
    config.executor.machine_lock = folder.path().filename().string();
    config.web.port = 0;
    config.web.token_file = folder.write("token", std::string(kToken) + "\n");
    std::filesystem::permissions(config.web.token_file, std::filesystem::perms::owner_read |
                                                            std::filesystem::perms::owner_write);
    std::filesystem::create_directories(config.channel.path);
  }

  ~RunningService() { stop(); }

  /// Starts the daemon; it serves, but carries nothing out before `work`.
  void start() { start(progress); }
  void start(comparison::Progress& reported) {
    application = daemon::Application::open(config, reported, log).value();
    auto started = daemon::Daemon::start(*application);
    if (!started) FAIL(started.error().message);
    daemon = std::move(*started);
  }

  void work() {
    worker = std::jthread([this](std::stop_token stop) { status = daemon->run(std::move(stop)); });
  }

  void stop() {
    worker = {};
    daemon.reset();
    application.reset();
  }

  platform::HttpResponse send(const std::string& method, const std::string& path,
                              const std::string& body = "", const std::string& token = kToken) {
    platform::HttpRequest request;
    request.method = method;
    request.url = "http://127.0.0.1:" + std::to_string(daemon->port()) + path;
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token}};
    request.body = body;
    return client->send(request).value();
  }

  nlohmann::json get(const std::string& path) {
    return nlohmann::json::parse(send("GET", path).body);
  }

  std::string ask(const std::string& path, const nlohmann::json& body) {
    const auto accepted = send("POST", path, body.dump());
    REQUIRE(accepted.status == 202);
    return "/api/v1/requests/" +
           std::to_string(nlohmann::json::parse(accepted.body).at("id").get<int>());
  }

  /// Stores a request that nobody checked, as one whose builds went away since. Wakes nobody.
  std::string store(storage::RequestKind kind, const nlohmann::json& body) const {
    storage::RequestStore requests(application->services().database);
    const auto stored = requests.receive("stored " + body.dump(), kind, body.dump(), 1).value();
    return "/api/v1/requests/" + std::to_string(stored.first.id);
  }

  /// Stores a comparison of a new nightly that has ended, in one transaction: a daemon at work
  /// takes up what it finds open.
  storage::ComparisonRow add_ended(storage::Purpose purpose, const std::string& nightly,
                                   storage::ComparisonState end, storage::WallMillis at) const {
    auto& database = application->services().database;
    storage::ComparisonRow row;
    REQUIRE(database.transact([&]() -> Status {
      storage::ComparisonStore comparisons(database);
      TW_TRY(const auto build,
             storage::BuildStore(database).discover(storage::BuildOrigin::nightly, nightly));
      const auto itself = purpose == storage::Purpose::drill ? std::optional(build.id)
                                                             : std::optional<storage::Id>();
      TW_TRY(row,
             comparisons.open({.purpose = purpose, .candidate = build.id, .baseline = itself}, at));
      TW_TRY(row, comparisons.advance(row, end, at));
      return {};
    }));
    return row;
  }

  /// Asks `path` until `holds`, at most 20 s.
  template <typename Holds>
  nlohmann::json wait_until(const std::string& path, const Holds& holds) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
      auto answer = get(path);
      if (holds(answer)) return answer;
    }
    FAIL(path << " did not come to the expected state");
    return {};
  }

  /// Lets the daemon look at everything that is stored by now, and deliver what comes of it. The
  /// second round began after that; the third one sees what the second delivered.
  void look(platform::WallMillis now) {
    for (int round = 0; round < 3; ++round) {
      wait_until(ask("/api/v1/nightlies", nlohmann::json::object()), is_over);
      wait_until("/api/v1/outbox", [&](const auto&) { return is_delivered(now); });
    }
  }

  /// Whether no message that is due by then waits, and none is on its way.
  bool is_delivered(platform::WallMillis now) const {
    const auto unsent = storage::OutboxStore(application->services().database).unsent().value();
    return std::ranges::none_of(unsent, [&](const auto& message) {
      const bool is_given_up = message.state == storage::OutboxState::dead;
      return !is_given_up && message.not_before <= now;
    });
  }

  test::TemporaryFolder folder;
  config::Config config;
  comparison::Silence progress;
  std::ostringstream out;
  log::Log log{{log::Level::debug, log::Format::json}, out};
  std::unique_ptr<platform::HttpClient> client = platform::make_http_client("torchwatch-test");
  std::unique_ptr<daemon::Application> application;
  std::unique_ptr<daemon::Daemon> daemon;
  Status status;
  std::jthread worker;
};

}  // namespace torchwatch::test
