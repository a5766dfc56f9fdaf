#include "torchwatch/platform/http_client.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "local_server.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;

namespace {

Result<platform::HttpResponse> send(const platform::HttpRequest& request) {
  return platform::make_http_client("torchwatch-test")->send(request);
}

Result<platform::HttpResponse> get(const std::string& url) {
  platform::HttpRequest request;
  request.url = url;
  return send(request);
}

ErrorCode code_of(const Result<platform::HttpResponse>& response) {
  REQUIRE_FALSE(response);
  INFO(response.error().message);
  return response.error().code;
}

/// A peer that sends given bytes to one client and then closes the connection, or holds it until
/// the test's end.
class RawPeer {
 public:
  explicit RawPeer(std::string says, bool holds = false) : says_(std::move(says)), holds_(holds) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    REQUIRE(bind(listener_, any, size) == 0);
    REQUIRE(listen(listener_, 1) == 0);
    getsockname(listener_, any, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;
  ~RawPeer() {
    is_over_ = true;
    thread_.join();
    close(listener_);
  }

  /// Returns once a client's request has arrived.
  void wait_for_client() const { has_client_.wait(false); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  void serve() {
    const int client = accept(listener_, nullptr, nullptr);
    char request[4096];
    if (recv(client, request, sizeof(request), 0) > 0) {
      has_client_ = true;
      has_client_.notify_all();
      ::send(client, says_.data(), says_.size(), MSG_NOSIGNAL);
    }
    // Drips: always in time for a limit that starts anew at each byte.
    while (holds_ && !is_over_ && ::send(client, "x", 1, MSG_NOSIGNAL) == 1) usleep(1000);
    close(client);
  }

  std::string says_;
  bool holds_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_client_ = false;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a request arrives with its method, headers and body, and the answer comes back") {
  httplib::Server server;
  server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.status = 201;
    response.set_header("X-Agent", request.get_header_value("User-Agent"));
    response.set_content(request.get_header_value("Authorization") + "|" + request.body + "|" +
                             request.get_param_value("q"),
                         "text/plain");
  });
  const test::LocalServer local(server);
  platform::HttpRequest request;
  request.method = "POST";
  request.url = local.url("/echo?q=a%20b");
  request.headers = {{"Authorization", "Bearer t"}, {"Content-Type", "application/json"}};
  request.body = "{}";
  const auto response = send(request);
  REQUIRE(response);
  CHECK(response->status == 201);
  CHECK(response->body == "Bearer t|{}|a b");
  CHECK(response->headers.at("x-agent") == "torchwatch-test");
}

TEST_CASE("an answer of any status is an answer, not an error") {
  httplib::Server server;
  const test::LocalServer local(server);
  const auto response = get(local.url("/nothing"));
  REQUIRE(response);
  CHECK(response->status == 404);
}

TEST_CASE("PATCH and DELETE are sent as well") {
  httplib::Server server;
  const auto echo = [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.method + request.body, "text/plain");
  };
  server.Patch("/x", echo);
  server.Delete("/x", echo);
  const test::LocalServer local(server);
  platform::HttpRequest request;
  request.url = local.url("/x");
  request.method = "PATCH";
  request.body = "1";
  CHECK(send(request)->body == "PATCH1");
  request.method = "DELETE";
  request.body = "";
  CHECK(send(request)->body == "DELETE");
}

TEST_CASE("a redirect is the answer: the token goes to no other host") {
  httplib::Server other;
  std::atomic<int> visits = 0;
  other.Get("/stolen", [&visits](const httplib::Request&, httplib::Response&) { ++visits; });
  const test::LocalServer thief(other);
  httplib::Server server;
  server.Get("/", [&thief](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(thief.url("/stolen"));
  });
  const test::LocalServer local(server);
  platform::HttpRequest request;
  request.url = local.url("/");
  request.headers = {{"Authorization", "Bearer secret"}};
  const auto response = send(request);
  REQUIRE(response);
  CHECK(response->status == 302);
  CHECK(response->headers.at("location") == thief.url("/stolen"));
  CHECK(visits == 0);
}

TEST_CASE("an answer is taken up to the limit and refused above it") {
  httplib::Server server;
  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(1000, 'x'), "text/plain");
  });
  server.Get("/chunked", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain", [](std::size_t, httplib::DataSink& sink) {
      const std::string block(1U << 16U, 'x');
      return sink.write(block.data(), block.size());  // for ever
    });
  });
  const test::LocalServer local(server);
  platform::HttpRequest request;
  request.url = local.url("/");
  request.response_bytes_max = 1000;
  CHECK(send(request)->body.size() == 1000);
  request.response_bytes_max = 999;
  CHECK(code_of(send(request)) == ErrorCode::corrupt);
  request.url = local.url("/chunked");
  CHECK(code_of(send(request)) == ErrorCode::corrupt);
}

TEST_CASE("a packed answer is not unpacked: what arrives is what counts") {
  httplib::Server server;
  server.Get("/", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.get_header_value("Accept-Encoding"), "text/plain");
  });
  const test::LocalServer local(server);
  CHECK(get(local.url("/"))->body == "identity");
}

TEST_CASE("a body that is cut off is not an answer") {
  const RawPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
  CHECK(code_of(get(peer.url())) == ErrorCode::corrupt);
}

TEST_CASE("a chunked body that is cut off is not an answer") {
  const RawPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  CHECK(code_of(get(peer.url())) == ErrorCode::corrupt);
}

TEST_CASE("a peer that closes without a word is unavailable") {
  const RawPeer peer("");
  CHECK(code_of(get(peer.url())) == ErrorCode::unavailable);
}

TEST_CASE("a peer that drips is left at the deadline, in head and body") {
  for (const char* const beginning :
       {"", "HTTP/1.1 200 OK\r\nX-Long: ", "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n"}) {
    const RawPeer peer(beginning, true);
    platform::HttpRequest request;
    request.url = peer.url();
    request.time_limit = 100ms;
    INFO(beginning);
    CHECK(code_of(send(request)) == ErrorCode::timed_out);
  }
}

TEST_CASE("a transfer from a peer that drips ends when the caller is asked to stop") {
  const std::string says =
      GENERATE(std::string("HTTP/1.1 200 O"),
               std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"));
  const RawPeer peer(says, true);
  std::stop_source stop;
  platform::HttpRequest request;
  request.url = peer.url();
  request.time_limit = 10min;
  request.stop = stop.get_token();
  std::jthread asks([&] {
    peer.wait_for_client();
    stop.request_stop();
  });
  CHECK(code_of(send(request)) == ErrorCode::cancelled);
}

TEST_CASE("nobody listening is unavailable") {
  std::string url;
  {
    httplib::Server server;
    const test::LocalServer local(server);
    url = local.url("/");
  }
  const auto response = get(url);
  CHECK(code_of(response) == ErrorCode::unavailable);
  CHECK(response.error().message.find("GET http://127.0.0.1:") == 0);
}

TEST_CASE("a header that would smuggle another is refused before anything is sent") {
  platform::HttpRequest request;
  request.url = "http://127.0.0.1:1/";
  request.headers = {{"Authorization", "Bearer secret\r\nX-Evil: 1"}};
  const auto response = send(request);
  CHECK(code_of(response) == ErrorCode::invalid);
  CHECK(response.error().message.find("secret") == std::string::npos);
  request.headers = {{"Bad Name:", "x"}};
  CHECK(code_of(send(request)) == ErrorCode::invalid);
}
