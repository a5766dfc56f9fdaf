#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <list>

#include "api_fixture.hpp"
#include "raw_client.hpp"
#include "torchwatch/platform/process_limits.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/event_store.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

// Who has a token may ask as often as it likes.
const std::string kAuthorization = "Authorization: Bearer tw_a-token-for-tests\r\n";

/// A client that follows the events, beyond the head of its answer.
struct Following : RawClient {
  explicit Following(const Api& api, const std::string& query = "", const std::string& header = "")
      : RawClient(api.server->port()) {
    REQUIRE(send("GET /api/v1/events" + query + " HTTP/1.1\r\nHost: localhost\r\n" +
                 kAuthorization + header + "\r\n"));
    head = until("\r\n\r\n");
    greeting = until("\n\n");
  }
  std::string head;
  std::string greeting;
};

void cancel_comparison(Api& api) {
  REQUIRE(storage::ComparisonStore(*api.database).cancel(1, "by hand", 1));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kStreamsBytesMax = INT64_MAX;  // their own books are in it
#else
constexpr std::int64_t kStreamsBytesMax = 50'000'000;
#endif

/// The memory that this process has in use.
std::int64_t resident_bytes() {
  constexpr std::int64_t kBytesPerKib = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * kBytesPerKib;
  }
  FAIL("the kernel does not say how much memory this process has in use");
  return 0;
}

}  // namespace

TEST_CASE("who follows the events hears what changes from then on") {
  Api api;
  api.fill();
  const auto newest = storage::EventStore(*api.database).kept().value().newest;
  Following client(api);
  CHECK_THAT(client.head, Contains("200 OK") && Contains("Content-Type: text/event-stream") &&
                              Contains("Connection: close") &&
                              Contains("Cache-Control: no-store") && !Contains("Content-Length") &&
                              !Contains("ETag"));
  CHECK(client.greeting == "retry: 2000\nid: " + std::to_string(newest) + "\n\n");
  cancel_comparison(api);
  CHECK(client.until("\n\n") == "id: " + std::to_string(newest + 1) +
                                    "\nevent: comparison\ndata: {\"item\":\"1\",\"kind\":"
                                    "\"comparison\",\"state\":\"cancelled\",\"url\":"
                                    "\"/api/v1/comparisons/1\"}\n\n");
}

TEST_CASE("a client that comes again begins where it was, whatever its address says") {
  Api api;
  api.fill();
  Following from_the_first(api, "?after=0");
  CHECK_THAT(from_the_first.until("\n\n"), Contains("id: 1\n"));
  Following again(api, "?after=0", "Last-Event-ID: 2\r\n");
  CHECK_THAT(again.until("\n\n"), Contains("id: 3\n"));
}

TEST_CASE("a thousand who follow take no thread and no place from anybody else") {
  // Both ends of a connection are in this process.
  REQUIRE(platform::raise_open_files(3'000) >= 3'000);
  Api api;
  api.fill();
  std::list<Following> clients;
  clients.emplace_back(api);  // what is made once for all of them
  const auto before = resident_bytes();
  while (clients.size() < 1'000) clients.emplace_back(api);
  CHECK(resident_bytes() - before < kStreamsBytesMax);
  CHECK(api.send("GET", "/healthz", "", {}).status == 200);
  cancel_comparison(api);
  for (auto& client : clients) CHECK_THAT(client.until("\n\n"), Contains("cancelled"));
}

TEST_CASE("who is one too many to follow is asked to come later") {
  Api api({.clients_max = 1});
  Following client(api);
  const auto refused = api.get("/api/v1/events");
  CHECK(refused.status == 503);
  CHECK(refused.headers.at("retry-after") == "10");
}

TEST_CASE("a client that only asks for the head follows nothing") {
  Api api;
  RawClient client(api.server->port());
  REQUIRE(client.send("HEAD /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const auto answer = client.rest();
  CHECK_THAT(answer, Contains("text/event-stream") && Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("events are followed from a number") {
  Api api;
  for (const auto* query : {"?after=x", "?after=-1", "?after=", "?after=1&after=2", "?since=1"}) {
    INFO(query);
    CHECK(api.get(std::string("/api/v1/events") + query).status == 400);
  }
  const auto header = api.send("GET", "/api/v1/events", "", {{"Last-Event-ID", "x"}});
  CHECK(header.status == 400);
}

TEST_CASE("following the events needs the right to read") {
  Api api;
  const auto stranger = api.send("GET", "/api/v1/events", "", {{"Authorization", "Bearer tw_x"}});
  CHECK(stranger.status == 401);
}

TEST_CASE("open streams do not keep the server from ending") {
  Api api;
  Following client(api);
  api.server->stop();
  api.feed->end();
  CHECK(client.rest().empty());
}
