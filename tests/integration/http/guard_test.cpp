// The attacks that cpp-httplib 0.11.4 falls for, each against the guarded server.
#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>
#include <stdexcept>

#include "guarded_server.hpp"
#include "raw_client.hpp"

using namespace torchwatch;
using namespace torchwatch::http;
using std::chrono::milliseconds;

namespace {

const std::string kHost = "Host: localhost\r\n";
const std::string kGet = "GET / HTTP/1.1\r\n" + kHost + "\r\n";
constexpr std::size_t kBodyMax = 64U << 10U;

ServerSettings small_limits() {
  ServerSettings settings;
  settings.body_bytes_max = kBodyMax;
  return settings;
}

/// A guarded server that answers every request with its body, or throws.
struct Echo {
  explicit Echo(const ServerSettings& settings = small_limits())
      : server(settings,
               {[](const Request&) { return std::optional<Reply>(); },
                [this](const Request& request) { return answer(request); }},
               sink.logger("http")) {
    REQUIRE(server.start());
  }

  Reply answer(const Request& request) {
    ++answered;
    if (request.path == "/throw") throw std::runtime_error("secret /var/lib/state.sqlite");
    return {200, "text/plain", request.body, {}};
  }
  std::string ask(const std::string& bytes) {
    RawClient client(server.port());
    client.send(bytes);
    return client.answer();
  }
  /// Asks, and demands that the server then closes.
  std::string ask_to_the_end(const std::string& bytes) {
    RawClient client(server.port());
    client.send(bytes);
    return client.rest();
  }

  std::atomic<int> answered = 0;
  std::ostringstream log;
  log::Log sink{{}, log};
  GuardedServer server;
};

/// Sends `piece` until the server closes; how many bytes it let pass.
std::size_t flood(RawClient& client, const std::string& piece) {
  constexpr std::size_t kEnough = 64U << 20U;
  std::size_t sent = 0;
  while (sent < kEnough && client.send(piece)) sent += piece.size();
  return sent;
}

}  // namespace

TEST_CASE("an ordinary request is answered, many on one connection") {
  Echo echo;
  RawClient client(echo.server.port());
  for (int i = 0; i < 5; ++i) {
    client.send("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\n\r\nhello");
    const auto answer = client.answer();
    CHECK(status_of_answer(answer) == 200);
    CHECK(answer.ends_with("\r\n\r\nhello"));
  }
  client.send("POST / HTTP/1.1\r\n" + kHost +
              "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  CHECK(client.answer().ends_with("\r\n\r\nhello"));
}

TEST_CASE("a chunked body past the limit is cut off") {
  Echo echo;
  RawClient client(echo.server.port());
  client.send("POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n");
  const std::size_t sent = flood(client, "1000\r\n" + std::string(4096, 'x') + "\r\n");
  CHECK(sent < (32U << 20U));  // what the kernel's buffers hold
  CHECK(echo.answered == 0);
}

TEST_CASE("a chunked body just past the limit is answered with 413") {
  Echo echo;
  const std::string chunk = "1000\r\n" + std::string(4096, 'x') + "\r\n";
  std::string body;
  for (int i = 0; i < 17; ++i) body += chunk;
  const auto answer = echo.ask("POST / HTTP/1.1\r\n" + kHost +
                               "Transfer-Encoding: chunked\r\n\r\n" + body + "0\r\n\r\n");
  CHECK(status_of_answer(answer) == 413);
  CHECK(echo.answered == 0);
}

TEST_CASE("a chunk whose size is not a number is refused at once and the connection closed") {
  const std::string size = GENERATE(as<std::string>(), "-5", "+2", "0x2", " 2", "");
  Echo echo;
  const auto all =
      echo.ask_to_the_end("POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n" +
                          size + "\r\n{}\r\n0\r\n\r\n" + kGet);
  INFO(size);
  CHECK(status_of_answer(all) == 400);
  CHECK(all.find("HTTP/1.1 ", 8) == std::string::npos);
  CHECK(echo.answered == 0);
}

TEST_CASE("a body that announces too much is refused before it is read") {
  Echo echo;
  const auto answer =
      echo.ask_to_the_end("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 1000000000\r\n\r\n");
  CHECK(status_of_answer(answer) == 413);
  CHECK(answer.find("Connection: close") != std::string::npos);
}

TEST_CASE("a body in gzip is not expanded") {
  Echo echo;
  const std::string gzip("\x1f\x8b\x08\x00\x00 no real gzip", 18);
  const auto answer =
      echo.ask("POST / HTTP/1.1\r\n" + kHost + "Content-Encoding: gzip\r\nContent-Length: " +
               std::to_string(gzip.size()) + "\r\n\r\n" + gzip);
  CHECK(answer.ends_with(gzip));
}

TEST_CASE("a header line without end is cut off") {
  Echo echo;
  RawClient client(echo.server.port());
  client.send("GET / HTTP/1.1\r\n" + kHost + "X: ");
  CHECK(flood(client, std::string(4096, 'x')) < (32U << 20U));
  CHECK(echo.answered == 0);
}

TEST_CASE("a request line without end is cut off") {
  Echo echo;
  RawClient client(echo.server.port());
  client.send("GET /");
  CHECK(flood(client, std::string(4096, 'x')) < (32U << 20U));
  CHECK(echo.answered == 0);
}

TEST_CASE("a flood of header lines is cut off after a hundred") {
  Echo echo;
  std::string head = "GET / HTTP/1.1\r\n" + kHost;
  for (int i = 0; i < 99; ++i) head += "X: y\r\n";
  CHECK(status_of_answer(echo.ask_to_the_end(head)) == 431);
  RawClient client(echo.server.port());
  client.send(head);
  CHECK(flood(client, "X: y\r\nX: y\r\nX: y\r\nX: y\r\n") < 300'000 * 6);
  CHECK(echo.answered == 0);
}

TEST_CASE("framing that hides a second request is refused and the connection closed") {
  const std::string hidden = GENERATE_COPY(
      as<std::string>(), "Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + kGet,
      "Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + kGet,
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n" + kGet,
      "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + kGet, "Content-Length : 44\r\n\r\n" + kGet,
      "X: y\nContent-Length: 44\r\n\r\n" + kGet, "X: y\r\n Content-Length: 44\r\n\r\n" + kGet,
      "Content-Length: -1\r\n\r\n" + kGet);
  Echo echo;
  const auto all = echo.ask_to_the_end("POST / HTTP/1.1\r\n" + kHost + hidden);
  INFO(hidden);
  CHECK(status_of_answer(all) == 400);
  CHECK(all.find("HTTP/1.1 ", 8) == std::string::npos);  // one answer, not two
  CHECK(echo.answered == 0);
}

TEST_CASE("the unread body of a GET is never taken for a request") {
  Echo echo;
  const auto all = echo.ask_to_the_end("GET / HTTP/1.1\r\n" + kHost + "Content-Length: " +
                                       std::to_string(kGet.size()) + "\r\n\r\n" + kGet);
  CHECK(status_of_answer(all) == 200);
  CHECK(echo.answered == 1);
}

TEST_CASE("a POST without a length is refused instead of read to the end of time") {
  Echo echo;
  CHECK(status_of_answer(echo.ask_to_the_end("POST / HTTP/1.1\r\n" + kHost + "\r\n")) == 411);
  CHECK(echo.answered == 0);
}

TEST_CASE("a foreign or missing host is not answered") {
  Echo echo;
  CHECK(status_of_answer(echo.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")) == 421);
  CHECK(status_of_answer(echo.ask("GET / HTTP/1.1\r\n\r\n")) == 400);
  CHECK(echo.answered == 0);
}

TEST_CASE("a client that dribbles its head is cut off at the deadline") {
  auto settings = small_limits();
  settings.head_time_limit = milliseconds(50);
  Echo echo(settings);
  RawClient client(echo.server.port());
  client.send("GET / HTTP/1.1\r\n" + kHost + "X: ");
  while (!client.is_readable(5)) {
    if (!client.send("y")) break;
  }
  const auto answer = client.rest();
  CHECK((answer.empty() || status_of_answer(answer) == 408));
  CHECK(echo.answered == 0);
}

TEST_CASE("a client that dribbles its body is cut off at the deadline") {
  auto settings = small_limits();
  settings.body_time_limit = milliseconds(50);
  Echo echo(settings);
  RawClient client(echo.server.port());
  client.send("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 60000\r\n\r\n");
  while (!client.is_readable(5)) {
    if (!client.send("y")) break;
  }
  CHECK(status_of_answer(client.rest()) == 408);
  CHECK(echo.answered == 0);
}

TEST_CASE("a client that says nothing is let go") {
  auto settings = small_limits();
  settings.head_time_limit = milliseconds(20);
  Echo echo(settings);
  RawClient client(echo.server.port());
  CHECK(client.rest().empty());
}

TEST_CASE("the text of a thrown exception reaches the log and not the client") {
  Echo echo;
  const auto answer = echo.ask("GET /throw HTTP/1.1\r\n" + kHost + "\r\n");
  CHECK(status_of_answer(answer) == 500);
  CHECK(answer.find("secret") == std::string::npos);
  CHECK(answer.find("EXCEPTION") == std::string::npos);
  echo.server.end();
  CHECK(echo.log.str().find("secret") != std::string::npos);
}

TEST_CASE("a connection ends after its share of requests") {
  auto settings = small_limits();
  settings.requests_per_connection_max = 2;
  Echo echo(settings);
  const auto all = echo.ask_to_the_end(kGet + kGet + kGet);
  CHECK(echo.answered == 2);
  CHECK(all.find("Connection: close") != std::string::npos);
}

TEST_CASE("every answer carries the headers that keep a browser safe") {
  Echo echo;
  for (const auto& request : {kGet, std::string("GET / HTTP/1.1\r\nHost: evil\r\n\r\n"),
                              std::string("BREW / HTTP/1.1\r\n\r\n")}) {
    const auto answer = echo.ask(request);
    CHECK(answer.find("X-Content-Type-Options: nosniff") != std::string::npos);
    CHECK(answer.find("Content-Security-Policy: default-src 'none'") != std::string::npos);
    CHECK(answer.find("Referrer-Policy: no-referrer") != std::string::npos);
    CHECK(answer.find("Cache-Control: no-store") != std::string::npos);
    CHECK(answer.find("Access-Control") == std::string::npos);
  }
}

TEST_CASE("a second server on the port is a conflict, a foreign address is invalid") {
  Echo echo;
  auto settings = small_limits();
  settings.port = echo.server.port();
  GuardedServer second(settings, {});
  CHECK(second.start().error().code == ErrorCode::conflict);
  settings.address = "not-an-address";
  GuardedServer third(settings, {});
  CHECK(third.start().error().code == ErrorCode::invalid);
}

TEST_CASE("the server stops while clients hold their connections") {
  Echo echo;
  RawClient idle(echo.server.port());
  RawClient busy(echo.server.port());
  busy.send("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 10\r\n\r\nhalf");
  idle.send(kGet);
  CHECK(status_of_answer(idle.answer()) == 200);
  echo.server.end();
  idle.rest();
  busy.rest();
  CHECK(echo.answered == 1);
}
