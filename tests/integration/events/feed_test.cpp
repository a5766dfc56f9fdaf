#include "torchwatch/events/feed.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::Id;

namespace {

/// The other end of a connection. It waits ten seconds for what must come.
class Receiver {
 public:
  explicit Receiver(UniqueFd socket) : socket_(std::move(socket)) {}

  /// What came up to this text and not before; all until the end if it does not come.
  std::string until(const std::string& text) {
    while (got_.find(text) == std::string::npos && receive()) {
    }
    const auto end =
        got_.find(text) == std::string::npos ? got_.size() : got_.find(text) + text.size();
    auto taken = got_.substr(0, end);
    got_.erase(0, end);
    return taken;
  }
  std::string rest() { return until(std::string(1, '\0')); }
  int socket() const { return socket_.get(); }

 private:
  bool receive() {
    pollfd waits{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (poll(&waits, 1, 10'000) != 1) return false;
    std::array<char, 4096> buffer{};
    const auto size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) got_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  UniqueFd socket_;
  std::string got_;
};

struct Fed {
  explicit Fed(events::FeedLimits limits = {})
      : feed(events::Feed::start(*database, {}, limits).value()) {}

  Receiver follow(Id after, const std::string& address = "192.0.2.1",
                  const std::string& token = "") {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    feed->add({.socket = UniqueFd(ends[0]),
               .unsent = "hello ",
               .address = address,
               .after = after,
               .token = token});
    return Receiver(UniqueFd(ends[1]));
  }

  /// One event for each: a request that comes in.
  void happen(int times) {
    storage::RequestStore requests(*database);
    REQUIRE(database->transact([&]() -> Status {
      for (int i = 0; i < times; ++i) {
        const auto key = std::to_string(++happened);
        TW_TRY_VOID(requests.receive(key, storage::RequestKind::nightly, "{}", 1));
      }
      return {};
    }));
  }

  test::TemporaryFolder folder;
  std::unique_ptr<storage::Database> database =
      storage::Database::open({folder.path() / "t.sqlite", "", false}).value();
  int happened = 0;
  std::unique_ptr<events::Feed> feed;
};

}  // namespace

TEST_CASE("who follows gets what it has not got, then what happens") {
  Fed fed;
  fed.happen(3);
  auto client = fed.follow(1);
  CHECK(client.until("\n\n") ==
        "hello id: 2\nevent: request\ndata: {\"item\":\"2\",\"kind\":\"request\","
        "\"state\":\"pending\",\"url\":\"/api/v1/requests/2\"}\n\n");
  CHECK_THAT(client.until("\n\n"), Contains("id: 3\n"));
  fed.happen(1);
  CHECK_THAT(client.until("\n\n"), Contains("id: 4\n"));
}

TEST_CASE("who comes again after the service was started anew gets each event once") {
  auto fed = std::make_unique<Fed>();
  fed->happen(2);
  auto client = fed->follow(0);
  CHECK_THAT(client.until("requests/2\"}\n\n"), Contains("id: 2\n"));
  fed->feed->end();
  CHECK(client.rest().empty());
  fed->happen(2);
  fed->feed = events::Feed::start(*fed->database).value();
  auto again = fed->follow(2);
  const auto missed = again.until("requests/4\"}\n\n");
  CHECK_THAT(missed, Contains("id: 3\n") && Contains("id: 4\n") && !Contains("id: 2\n"));
}

TEST_CASE("who missed more than is kept is said to read everything again") {
  Fed fed;
  fed.happen(10'003);
  auto late = fed.follow(1);
  CHECK_THAT(late.until("\n\n"), Contains("id: 10003\nevent: reset\n"));
  auto just_in_time = fed.follow(3);
  CHECK_THAT(just_in_time.until("\n\n"), Contains("id: 4\n"));
  auto of_a_newer_database = fed.follow(20'000);
  CHECK_THAT(of_a_newer_database.until("\n\n"), Contains("event: reset\n"));
  fed.happen(1);
  CHECK_THAT(late.until("\n\n"), Contains("id: 10004\nevent: request\n"));
}

TEST_CASE("a client that takes nothing is let go, and keeps nothing from the others") {
  Fed fed({.heartbeat = std::chrono::milliseconds(5), .stuck_max = std::chrono::milliseconds(5)});
  fed.happen(9'000);  // more than the kernel keeps for one who does not read
  auto stuck = fed.follow(0);
  auto other = fed.follow(9'000);
  fed.happen(1);
  CHECK_THAT(other.until("requests/9001\"}\n\n"), Contains("id: 9001\n"));
  pollfd waits{.fd = stuck.socket(), .events = POLLRDHUP, .revents = 0};
  CHECK(poll(&waits, 1, 10'000) == 1);
}

TEST_CASE("a slow client gets everything once and in order, however little it takes at once") {
  Fed fed;
  fed.happen(3'000);
  auto client = fed.follow(0);
  std::string got;
  for (int i = 1; i <= 3'000; ++i) {
    const auto event = client.until("\n\n");
    INFO(event);
    REQUIRE(event.find("id: " + std::to_string(i) + "\n") != std::string::npos);
  }
  fed.happen(1);
  CHECK_THAT(client.until("\n\n"), Contains("id: 3001\n"));
}

TEST_CASE("a stream ends after its time, and who comes again misses nothing") {
  Fed fed({.heartbeat = std::chrono::milliseconds(5), .stream_max = std::chrono::milliseconds(5)});
  fed.happen(1);
  auto client = fed.follow(0, "192.0.2.1");
  CHECK_THAT(client.rest(), Contains("id: 1\n"));
  CHECK(fed.feed->has_place_for("192.0.2.1"));
  fed.happen(1);
  auto again = fed.follow(1);
  CHECK_THAT(again.until("requests/2\"}\n\n"), Contains("id: 2\n") && !Contains("id: 1\n"));
}

TEST_CASE("a client that says something or has gone is let go, and its place is free again") {
  Fed fed({.clients_max = 2, .clients_per_address_max = 1});
  auto client = fed.follow(0, "192.0.2.1");
  CHECK_FALSE(fed.feed->has_place_for("192.0.2.1"));
  CHECK(fed.feed->has_place_for("192.0.2.2"));
  auto refused = fed.follow(0, "192.0.2.1");
  CHECK(refused.rest().empty());
  REQUIRE(send(client.socket(), "GET", 3, MSG_NOSIGNAL) == 3);
  CHECK(client.rest() == "hello ");
  CHECK(fed.feed->has_place_for("192.0.2.1"));
}

TEST_CASE("who follows is given signs of life") {
  Fed fed({.heartbeat = std::chrono::milliseconds(5)});
  auto client = fed.follow(0);
  CHECK(client.until(":\n\n:\n\n") == "hello :\n\n:\n\n");
}

TEST_CASE("who came with a token that is revoked is closed, nobody else is") {
  Fed fed;
  auto anonymous = fed.follow(0);
  auto other = fed.follow(0, "192.0.2.1", "grafana");
  auto revoked = fed.follow(0, "192.0.2.1", "ci");
  CHECK(revoked.until("hello ") == "hello ");
  fed.feed->close_streams_of("ci");
  CHECK(revoked.rest().empty());
  fed.happen(1);
  CHECK_THAT(anonymous.until("requests/1\"}\n\n"), Contains("id: 1\n"));
  CHECK_THAT(other.until("requests/1\"}\n\n"), Contains("id: 1\n"));
}

TEST_CASE("everybody is closed when the feed ends") {
  Fed fed;
  auto client = fed.follow(0);
  CHECK(client.until("hello ") == "hello ");
  fed.feed->end();
  CHECK(client.rest().empty());
  auto late = fed.follow(0);
  CHECK(late.rest().empty());
}
