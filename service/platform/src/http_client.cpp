#include "torchwatch/platform/http_client.hpp"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "torchwatch/platform/unix_socket.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "url.hpp"

namespace torchwatch::platform {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kConnectLimit{10'000};

/// The library's time limits start anew at each byte, so a peer that drips holds it without end.
/// This ends the transfer at one fixed moment, or when the caller is asked to stop.
class Deadline {
 public:
  Deadline(httplib::Client& client, SteadyClock::time_point at, const std::stop_token& callers)
      : at_(at),
        cancel_(callers, Cancel{this}),
        watch_([this, &client](const std::stop_token& stop) { watch(client, stop); }) {}

  bool passed() const { return SteadyClock::now() >= at_; }

 private:
  struct Cancel {
    Deadline* deadline;
    void operator()() const {
      const std::scoped_lock lock(deadline->mutex_);
      deadline->is_cancelled_ = true;
      deadline->wake_.notify_all();
    }
  };

  void watch(httplib::Client& client, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, stop, at_, [this] { return is_cancelled_; });
    // Again and again: stop() does nothing to a connection that is not open yet.
    while (!stop.stop_requested()) {
      client.stop();
      wake_.wait_for(lock, stop, milliseconds(20), [] { return false; });
    }
  }

  SteadyClock::time_point at_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool is_cancelled_ = false;
  std::stop_callback<Cancel> cancel_;
  std::jthread watch_;  // last: joined before what it uses is gone
};

/// Collects what arrives, up to the limit.
struct Arrival {
  bool has_head = false;
  bool is_too_long = false;
  std::string body;
};

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_value_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

Status check_headers(const std::map<std::string, std::string>& headers) {
  for (const auto& [name, value] : headers) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character)) {
      return fail(ErrorCode::invalid, "header name '" + name + "' is not a token");
    }
    if (!std::all_of(value.begin(), value.end(), is_value_character)) {
      // The value may be a secret with a newline at its end: it is not printed.
      return fail(ErrorCode::invalid,
                  "value of header " + name + " holds a line break or control character",
                  "remove it");
    }
  }
  return {};
}

httplib::Request to_library(const HttpRequest& request, const Url& url, Arrival& arrival) {
  httplib::Request out;
  out.method = request.method;
  out.path = url.target;
  out.body = request.body;
  for (const auto& [name, value] : request.headers) out.headers.emplace(name, value);
  out.headers.emplace("Accept-Encoding", "identity");
  out.response_handler = [&arrival](const httplib::Response&) { return arrival.has_head = true; };
  const std::size_t bytes_max = request.response_bytes_max;
  out.content_receiver = [&arrival, bytes_max](const char* data, std::size_t size, std::uint64_t,
                                               std::uint64_t) {
    arrival.is_too_long = size > bytes_max - arrival.body.size();
    if (!arrival.is_too_long) arrival.body.append(data, size);
    return !arrival.is_too_long;
  };
  return out;
}

HttpResponse from_library(const httplib::Response& response, Arrival arrival) {
  HttpResponse out;
  out.status = response.status;
  for (const auto& [name, value] : response.headers) out.headers.emplace(lower(name), value);
  out.body = std::move(arrival.body);
  return out;
}

Error explain(httplib::Error error, const Arrival& arrival, const HttpRequest& request,
              bool is_late) {
  if (arrival.is_too_long) {
    return {ErrorCode::corrupt, "the answer is longer than the " +
                                    std::to_string(request.response_bytes_max) + " bytes allowed"};
  }
  if (is_late) {
    return {ErrorCode::timed_out,
            "no whole answer within " + std::to_string(request.time_limit.count()) + " ms"};
  }
  if (arrival.has_head) return {ErrorCode::corrupt, "the answer was cut off"};
  switch (error) {
    case httplib::Error::SSLServerVerification:
      return {ErrorCode::unavailable, "TLS: the server's certificate is not trusted"};
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
      return {ErrorCode::unavailable, "TLS: no secure connection"};
    case httplib::Error::Connection:
    case httplib::Error::ConnectionTimeout:
      return {ErrorCode::unavailable, "no connection to the host"};
    default:
      return {ErrorCode::unavailable, "the host closed the connection without an answer"};
  }
}

void configure(httplib::Client& client, milliseconds limit) {
  client.set_connection_timeout(std::min(limit, kConnectLimit));
  client.set_read_timeout(limit);
  client.set_write_timeout(limit);
  client.set_follow_location(false);
  client.set_decompress(false);
  client.set_url_encode(false);
  client.set_keep_alive(false);
  client.set_tcp_nodelay(true);
  client.enable_server_certificate_verification(true);
}

class LibraryHttpClient final : public HttpClient {
 public:
  explicit LibraryHttpClient(std::string user_agent) : user_agent_(std::move(user_agent)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    TW_TRY(const Url url, parse_url(request.url));
    TW_TRY_VOID(check_headers(request.headers));
    TW_TRY_VOID(check_headers({{"User-Agent", user_agent_}}));
    auto response = transfer(request, url);
    if (response) return response;
    const auto where = request.socket.empty() ? url.origin : request.socket.string();
    return fail(response.error().within(request.method + " " + where));
  }

 private:
  Result<HttpResponse> transfer(const HttpRequest& request, const Url& url) const {
    const auto deadline_at = SteadyClock::now() + request.time_limit;
    std::optional<SocketFile> file;
    if (!request.socket.empty()) {
      TW_TRY(file, SocketFile::open(request.socket));
    }
    httplib::Client client = file ? httplib::Client(file->address(), 80)  // it ignores the port
                                  : httplib::Client(url.origin);
    if (file) client.set_address_family(AF_UNIX);
    if (!client.is_valid()) return fail(ErrorCode::invalid, "host or port cannot be read");
    configure(client, request.time_limit);
    Arrival arrival;
    httplib::Request outgoing = to_library(request, url, arrival);
    outgoing.headers.emplace("User-Agent", user_agent_);
    if (file) outgoing.headers.emplace("Host", url.origin.substr(url.origin.find("//") + 2));
    httplib::Response response;
    auto error = httplib::Error::Success;
    Deadline deadline(client, deadline_at, request.stop);
    const bool is_whole = client.send(outgoing, response, error);
    if (request.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
    // Also when the library calls it whole: to it, our cut ends a body that has no length.
    if (!is_whole || deadline.passed())
      return fail(explain(error, arrival, request, deadline.passed()));
    return from_library(response, std::move(arrival));
  }

  std::string user_agent_;
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client(std::string user_agent) {
  return std::make_unique<LibraryHttpClient>(std::move(user_agent));
}

}  // namespace torchwatch::platform
