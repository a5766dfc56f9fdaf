#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fake_clock.hpp"
#include "one_token.hpp"
#include "raw_client.hpp"
#include "torchwatch/http/server.hpp"

using namespace torchwatch;
using namespace torchwatch::http;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A server with one open and one closed route, and its log as JSON lines.
struct LoggedServer {
  explicit LoggedServer(log::Level level = log::Level::info)
      : log({level, log::Format::json}, out) {
    ServerSettings settings;
    settings.tokens = test::one_token("right");
    const auto answer = [](const Request&) { return Result<Reply>(Reply{}); };
    const auto damage = [](const Request&) -> Result<Reply> {
      return fail(ErrorCode::corrupt, "row 7 is damaged");
    };
    server = Server::start(settings,
                           {{"GET", "/open", answer, {}},
                            {"POST", "/closed", answer, Scope::measure},
                            {"GET", "/damaged", damage, {}}},
                           clock, log.logger("http"))
                 .value();
  }

  /// Sends one request; its record is written before its answer.
  void send(const std::string& request) {
    RawClient client(server->port());
    client.send(request);
    client.answer();
  }

  /// The records so far, when no request is under way.
  std::vector<json> records() {
    server->stop();
    std::istringstream in(out.str());
    std::vector<json> read;
    for (std::string line; std::getline(in, line);) read.push_back(json::parse(line));
    return read;
  }

  test::FakeClock clock;
  std::ostringstream out;
  log::Log log;
  std::unique_ptr<Server> server;
};

}  // namespace

TEST_CASE("a request is logged by method, path, status, time and peer") {
  LoggedServer logged;
  logged.send("GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto records = logged.records();
  REQUIRE(records.size() == 1);
  const auto& record = records.front();
  CHECK(record.at("level") == "info");
  CHECK(record.at("component") == "http");
  CHECK(record.at("method") == "GET");
  CHECK(record.at("path") == "/open");
  CHECK(record.at("status") == 200);
  CHECK(record.at("ms").is_number());
  CHECK(record.at("peer") == "127.0.0.1");
}

TEST_CASE("refused requests are logged, even those that cannot be read") {
  LoggedServer logged;
  logged.send("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
  logged.send("GET /open HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
  logged.send("GET /open HTTP/1.1\r\nno colon\r\n\r\n");
  const auto records = logged.records();
  REQUIRE(records.size() == 3);
  CHECK(records[0].at("status") == 404);
  CHECK(records[1].at("status") == 421);
  CHECK(records[2].at("status") == 400);
}

TEST_CASE("no header, query or body reaches the log") {
  LoggedServer logged(log::Level::debug);
  logged.send(
      "POST /closed?key=s3cret-query HTTP/1.1\r\nHost: localhost\r\n"
      "Authorization: Bearer s3cret-header\r\nCookie: s3cret-cookie\r\n"
      "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n\"s3cret-body\"");
  logged.send(
      "GET /open?token=s3cret-query HTTP/1.1\r\nHost: localhost\r\nX: s3cret-header\r\n\r\n");
  CHECK(logged.records().size() == 2);
  CHECK_THAT(logged.out.str(), !Contains("s3cret"));
}

TEST_CASE("what a client must not see of an error stands in the log") {
  LoggedServer logged;
  logged.send("GET /damaged HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto records = logged.records();
  REQUIRE(records.size() == 2);
  CHECK(records[0].at("level") == "error");
  CHECK_THAT(records[0].at("message").get<std::string>(), Contains("row 7 is damaged"));
  CHECK(records[0].at("path") == "/damaged");
  CHECK(records[1].at("level") == "warning");
  CHECK(records[1].at("status") == 500);
}

TEST_CASE("a log of warnings has no ordinary request") {
  LoggedServer logged(log::Level::warning);
  logged.send("GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(logged.records().empty());
}
