// The server on a Unix socket, beside its port: who may, who asked, and the same limits.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "fake_clock.hpp"
#include "one_token.hpp"
#include "raw_client.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/platform/http_client.hpp"

using namespace torchwatch;
using namespace torchwatch::http;
using Catch::Contains;

namespace {

Result<Reply> tell_peer(const Request& request) {
  return object_reply({{"peer", request.peer ? nlohmann::json(*request.peer) : nullptr},
                       {"address", request.remote_address},
                       {"body", request.body}});
}

/// A server on a port and on a socket, whose POST needs a token.
struct Served {
  explicit Served(std::string name = "control") : socket(folder.path() / std::move(name)) {
    std::filesystem::create_directories(socket.parent_path());
    server = start().value();
  }

  Result<std::unique_ptr<Server>> start() {
    ServerSettings settings;
    settings.socket = socket;
    settings.tokens = test::one_token("a-token");
    return Server::start(
        settings, {{"GET", "/peer", tell_peer, {}}, {"POST", "/peer", tell_peer, Scope::measure}},
        clock);
  }

  platform::HttpResponse ask(const std::string& method, const std::filesystem::path& over) const {
    platform::HttpRequest request;
    request.method = method;
    request.url = over.empty() ? "http://127.0.0.1:" + std::to_string(server->port()) + "/peer"
                               : "http://any.name/peer";
    request.socket = over;
    if (method == "POST") {
      request.headers = {{"Content-Type", "application/json"}};
      request.body = "{}";
    }
    return platform::make_http_client("torchwatch-test")->send(request).value();
  }

  test::TemporaryFolder folder;
  std::filesystem::path socket;
  test::FakeClock clock;
  std::unique_ptr<Server> server;
};

}  // namespace

TEST_CASE("over the socket a handler learns who asks, and no token is needed") {
  const Served served;
  const auto answer = served.ask("POST", served.socket);
  CHECK(answer.status == 200);
  const auto seen = nlohmann::json::parse(answer.body);
  CHECK(seen.at("peer") == getuid());
  CHECK(seen.at("address") == "uid " + std::to_string(getuid()));
  CHECK(seen.at("body") == "{}");
  CHECK(nlohmann::json::parse(served.ask("GET", served.socket).body).at("peer") == getuid());
}

TEST_CASE("beside the socket the port still asks for the token, and knows no user") {
  const Served served;
  CHECK(served.ask("POST", {}).status == 401);
  CHECK(nlohmann::json::parse(served.ask("GET", {}).body).at("peer").is_null());
}

TEST_CASE("a host name that the port does not serve is served on the socket") {
  const Served served;
  const std::string get = "GET /peer HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  RawClient local(served.socket);
  local.send(get);
  CHECK(status_of_answer(local.answer()) == 200);
  RawClient remote(served.server->port());
  remote.send(get);
  CHECK(status_of_answer(remote.answer()) == 421);
}

TEST_CASE("framing and sizes are as strict on the socket as on the port") {
  const Served served;
  const auto ask = [&](const std::string& bytes) {
    RawClient client(served.socket);
    client.send(bytes);
    return status_of_answer(client.rest());
  };
  const std::string post = "POST /peer HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(ask(post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}") == 400);
  CHECK(ask(post + "Content-Length: 1000000000\r\n\r\n") == 413);
  CHECK(ask(post + "X: " + std::string(20'000, 'x') + "\r\n\r\n") == 431);
  CHECK(ask("GET /peer HTTP/1.1\r\n\r\n") == 400);
}

TEST_CASE("a server that is stopped sends the answer that it is at work on") {
  const test::TemporaryFolder folder;
  const test::FakeClock clock;
  ServerSettings settings;
  settings.socket = folder.path() / "control";
  std::promise<void> is_asked;
  std::promise<void> may_answer;
  const auto slow = [&](const Request&) -> Result<Reply> {
    is_asked.set_value();
    may_answer.get_future().wait();
    return object_reply({{"made", true}});
  };
  const auto server = Server::start(settings, {{"GET", "/slow", slow, {}}}, clock).value();
  RawClient client(settings.socket);
  client.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  is_asked.get_future().wait();
  std::thread stopping([&] { server->stop(); });
  // What nobody reads any more cannot be sent: from here on the server waits for its answers.
  while (client.send("x")) std::this_thread::yield();
  may_answer.set_value();
  stopping.join();
  CHECK_THAT(client.rest(), Contains("\"made\":true"));
}

TEST_CASE("a socket with a long path is served and asked") {
  const Served served(std::string(90, 'a') + "/" + std::string(90, 'b') + "/control");
  CHECK(served.ask("GET", served.socket).status == 200);
}

TEST_CASE(
    "a second server on the socket is refused, the first continues and removes it at its end") {
  Served served;
  const auto second = served.start();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
  CHECK_THAT(second.error().message, Contains(served.socket.string()));
  CHECK(served.ask("GET", served.socket).status == 200);
  served.server.reset();
  CHECK_FALSE(std::filesystem::exists(served.socket));
}

TEST_CASE("a server that stops does not wait for who is connected to its socket") {
  Served served;
  RawClient idle(served.socket);
  RawClient begun(served.socket);
  begun.send("GET /pe");
  served.server->stop();
  CHECK(idle.rest().empty());
  begun.rest();
  served.server.reset();
}
