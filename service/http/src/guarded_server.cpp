#include "guarded_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

/// Allowance for the framing of chunks around a body of the allowed size.
constexpr std::size_t kFramingBytes = 8U << 10U;
constexpr std::size_t kLoggedBytesMax = 200;

/// Runs each job at once: the library's job for an accepted socket only admits it or turns it away.
class InlineQueue final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override { job(); }
  void shutdown() override {}
};

std::string peer_address(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  const void* address =
      peer.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr;
  if (inet_ntop(peer.ss_family, address, text.data(), text.size()) == nullptr) return "";
  return text.data();
}

/// The user at the other end of a Unix socket, as the kernel vouches for it; nothing if it cannot.
std::optional<uid_t> user_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

/// Whether accept() may succeed again: the client was gone already, or something is used up.
bool is_passing(int error) {
  return error == EINTR || error == ECONNABORTED || error == EMFILE || error == ENFILE ||
         error == ENOBUFS || error == ENOMEM;
}

/// Does not wait: the acceptor must never hang on a client.
void turn_away(int socket) {
  const Reply reply = problem(503, "too many connections; try again later");
  const std::string text =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
      "Content-Length: " +
      std::to_string(reply.body.size()) + "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" +
      reply.body;
  send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(socket, SHUT_RDWR);
  close(socket);
}

GuardRules rules_of(const ServerSettings& settings) {
  GuardRules rules{{settings.address, "localhost", "127.0.0.1", "[::1]"}, settings.body_bytes_max};
  rules.hosts.insert(rules.hosts.end(), settings.hosts.begin(), settings.hosts.end());
  return rules;
}

bool is_address(const std::string& text) {
  in6_addr bytes{};
  return text == "localhost" || inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
}

void put(const Reply& reply, httplib::Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
  for (const auto& [name, value] : reply.headers) {
    response.headers.erase(name);  // the reply's own Cache-Control replaces the default
    response.set_header(name, value);
  }
}

/// Explains why a request could not be read; `status` is the library's choice.
Reply failure_of(GuardedStream::End end, bool has_head, int status) {
  using End = GuardedStream::End;
  switch (end) {
    case End::too_late:
      return problem(408, "the request did not arrive in time");
    case End::too_long:
      return has_head ? problem(413, "the body is too long") : problem(431, "the head is too long");
    case End::too_many_lines:
      return problem(431, "too many header lines");
    case End::malformed:
      return problem(400, "the head is malformed");
    case End::closed:
    case End::none:
      break;
  }
  return problem(status, has_head ? "the body cannot be read" : "the head cannot be read");
}

void set_socket_options(socket_t socket) {
  const int on = 1;
  // Not the library's SO_REUSEPORT: a second daemon would silently take half the connections.
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

}  // namespace

struct GuardedServer::Exchange {
  GuardedStream* stream = nullptr;
  GuardedStream::Clock::time_point begun;
  bool has_head = false;
  bool has_unread_body = false;
  std::optional<Reply> refusal{};

  /// The next request's start is known only after one that was understood and read completely.
  bool must_close() const { return !has_head || has_unread_body || refusal.has_value(); }
};

thread_local GuardedServer::Exchange* GuardedServer::current_ = nullptr;

/// The library does not pass the connection to its handlers; the thread knows it.
struct GuardedServer::Current {
  explicit Current(Exchange& exchange) { current_ = &exchange; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_ = nullptr; }
};

GuardedServer::GuardedServer(const ServerSettings& settings, Answers answers, log::Logger logger)
    : settings_(settings),
      rules_(rules_of(settings)),
      socket_rules_{{}, settings.body_bytes_max},
      answers_(std::move(answers)),
      logger_(std::move(logger)),
      admission_(settings.connections_max, settings.connections_per_address_max) {
  new_task_queue = [] { return new InlineQueue; };  // the library deletes it
  set_socket_options([](socket_t socket) { http::set_socket_options(socket); });
  set_payload_max_length(settings_.body_bytes_max);
  set_default_headers(
      {{"Cache-Control", "no-store"},
       {"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
       {"Referrer-Policy", "no-referrer"},
       {"X-Content-Type-Options", "nosniff"}});
  install_handlers();
}

GuardedServer::~GuardedServer() {
  end();
}

void GuardedServer::install_handlers() {
  const auto whole = [this](const httplib::Request& request, httplib::Response& response) {
    answer_whole(request, response);
  };
  Post("/.*", whole);
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    return answer_head(request, response);
  });
  set_error_handler(
      [this](const httplib::Request&, httplib::Response& response) { explain_failure(response); });
  set_exception_handler([this](const httplib::Request&, httplib::Response& response,
                               std::exception_ptr what) { report_exception(response, what); });
  set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    finish_headers(response);
    log_request(request, response);
  });
}

Status GuardedServer::bind_address() {
  const std::string where = settings_.address + ":" + std::to_string(settings_.port);
  if (!is_address(settings_.address)) {
    return fail(ErrorCode::invalid, "[web] address: invalid address \"" + settings_.address +
                                        "\": must be an IP address of this machine, such as "
                                        "127.0.0.1");
  }
  errno = 0;
  port_ = settings_.port;
  const bool is_bound = port_ == 0 ? (port_ = bind_to_any_port(settings_.address)) > 0
                                   : bind_to_port(settings_.address, port_);
  if (!is_bound) {
    const bool is_taken = errno == EADDRINUSE || errno == 0;
    return fail(
        is_taken ? ErrorCode::conflict : ErrorCode::invalid,
        "cannot listen on " + where + ": " +
            (is_taken ? "the port is taken (is another daemon running?)" : std::strerror(errno)));
  }
  return {};
}

Status GuardedServer::start() {
  if (!settings_.socket.empty()) {
    TW_TRY(auto socket, platform::ListeningSocket::open(settings_.socket));
    socket_.emplace(std::move(socket));
  }
  TW_TRY_VOID(bind_address());
  workers_ = std::make_unique<ConnectionWorkers>(
      static_cast<std::size_t>(settings_.threads_max),
      [this](Admission::Connection& connection) { serve(connection); });
  acceptor_ = std::thread([this] { listen_after_bind(); });
  while (!is_running()) std::this_thread::yield();
  if (socket_) {
    socket_acceptor_ =
        std::jthread([this](const std::stop_token& stop) { accept_on_socket(stop); });
  }
  return {};
}

void GuardedServer::end() {
  if (!acceptor_.joinable()) return;
  stop();
  socket_acceptor_.request_stop();
  if (socket_) socket_->shut();
  admission_.shut_all();
  acceptor_.join();
  socket_acceptor_ = {};
  socket_.reset();  // ends the connections that nobody has accepted
  workers_.reset();
}

bool GuardedServer::process_and_close_socket(socket_t socket) {
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return admit(socket, peer_address(socket), std::nullopt);
}

void GuardedServer::accept_on_socket(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const int socket = accept4(socket_->get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      const auto user = user_of(socket);
      if (user) {
        admit(socket, "uid " + std::to_string(*user), user);
      } else {
        close(socket);
      }
    } else if (is_passing(errno)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } else {
      return;
    }
  }
}

bool GuardedServer::admit(int socket, const std::string& address, std::optional<uid_t> user) {
  const std::scoped_lock lock(admitting_);
  if (!admission_.has_place_for(address)) {
    turn_away(socket);
    return false;
  }
  workers_->add(Admission::Connection(admission_, socket, address, user));
  return true;
}

void GuardedServer::serve(Admission::Connection& connection) {
  try {
    serve_requests(connection);
  } catch (const std::exception& exception) {
    // From the library, or out of memory: this connection ends, the daemon continues.
    logger_.error(std::string("connection ended by an exception: ") + exception.what(),
                  {{"peer", connection.address()}});
  }
}

void GuardedServer::serve_requests(Admission::Connection& connection) {
  GuardedStream stream(connection.socket(), connection.address(), connection.user());
  auto patience = settings_.head_time_limit;  // a new client has as long as for its head
  for (int left = settings_.requests_per_connection_max; left > 0; --left) {
    if (!stream.wait_for_request(patience)) return;
    if (!serve_request(stream, left == 1)) return;
    patience = settings_.idle_time_limit;
  }
}

bool GuardedServer::serve_request(GuardedStream& stream, bool is_last) {
  Exchange exchange{.stream = &stream, .begun = GuardedStream::Clock::now()};
  const Current current(exchange);
  stream.begin_head(settings_.head_bytes_max, settings_.head_time_limit);
  stream.begin_answer(settings_.head_time_limit + settings_.answer_time_limit);
  bool is_closed = is_last;
  const bool is_answered = process_request(
      stream, is_last, is_closed, [&](httplib::Request& request) { set_up(request, exchange); });
  return is_answered && !is_closed && !exchange.must_close();
}

void GuardedServer::set_up(httplib::Request& request, Exchange& exchange) {
  exchange.has_head = true;
  disarm(request);
  exchange.has_unread_body = announces_body(request);
  exchange.refusal = refusal_of(request, exchange.stream->user() ? socket_rules_ : rules_);
  if (exchange.refusal) request.headers.erase("Expect");
  exchange.stream->begin_body(settings_.body_bytes_max + kFramingBytes, settings_.body_time_limit);
  exchange.stream->begin_answer(settings_.body_time_limit + settings_.answer_time_limit);
}

httplib::Server::HandlerResponse GuardedServer::answer_head(const httplib::Request& request,
                                                            httplib::Response& response) {
  const Request seen = request_of(request, current_->stream->user());
  auto reply = current_->refusal ? current_->refusal : answers_.to_head(seen);
  if (!reply && request.method == "POST") return HandlerResponse::Unhandled;
  put(reply ? *reply : answers_.to_request(seen), response);
  return HandlerResponse::Handled;
}

void GuardedServer::answer_whole(const httplib::Request& request, httplib::Response& response) {
  current_->has_unread_body = false;
  // The library counts the bytes of plain bodies only.
  put(request.body.size() > settings_.body_bytes_max
          ? problem(413, "the body is too long: at most " +
                             std::to_string(settings_.body_bytes_max) + " bytes")
          : answers_.to_request(request_of(request, current_->stream->user())),
      response);
}

void GuardedServer::explain_failure(httplib::Response& response) {
  if (!response.body.empty()) return;
  put(failure_of(current_->stream->end(), current_->has_head, response.status), response);
}

void GuardedServer::report_exception(httplib::Response& response, const std::exception_ptr& what) {
  std::string text;
  try {
    std::rethrow_exception(what);
  } catch (const std::exception& exception) {
    text = exception.what();
  } catch (...) {
    text = "an exception of an unknown type";
  }
  logger_.error("a handler threw: " + text);
  put(problem(Error{ErrorCode::internal, text}), response);
}

void GuardedServer::finish_headers(httplib::Response& response) {
  response.headers.erase("Accept-Ranges");
  response.headers.erase("Keep-Alive");
  if (response.status == 304) {  // they would describe the body that is not sent
    response.headers.erase("Content-Length");
    response.headers.erase("Content-Type");
  }
  if (!current_->must_close()) return;
  response.headers.erase("Connection");
  response.set_header("Connection", "close");
}

void GuardedServer::log_request(const httplib::Request& request,
                                const httplib::Response& response) const {
  // No query, header or body: each may hold a secret.
  const auto cut = [](const std::string& text) {
    return text.empty() ? "-" : text.substr(0, kLoggedBytesMax);
  };
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      GuardedStream::Clock::now() - current_->begun);
  logger_.write(response.status >= 500 ? log::Level::warning : log::Level::info, "request",
                {{"method", cut(request.method)},
                 {"path", cut(request.path)},
                 {"status", response.status},
                 {"ms", ms.count()},
                 {"peer", current_->stream->remote_address()}});
}

}  // namespace torchwatch::http
