#include "guarded_server.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include "representation.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

/// Allowance for the framing of chunks around a body of the allowed size.
constexpr std::size_t kFramingBytes = 8U << 10U;
constexpr std::size_t kLoggedBytesMax = 200;

GuardRules rules_of(const ServerSettings& settings) {
  GuardRules rules{{settings.address, "localhost", "127.0.0.1", "[::1]"}, settings.body_bytes_max};
  rules.hosts.insert(rules.hosts.end(), settings.hosts.begin(), settings.hosts.end());
  return rules;
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
      return problem(400, has_head ? "the body's chunks are malformed" : "the head is malformed");
    case End::closed:
    case End::none:
      break;
  }
  if (status == 414) return problem(414, "the address is too long");
  return problem(status, has_head ? "the body cannot be read" : "the head cannot be read");
}

}  // namespace

struct GuardedServer::Exchange {
  GuardedStream* stream = nullptr;
  GuardedStream::Clock::time_point begun;
  bool has_head = false;
  bool has_unread_body = false;
  bool accepts_gzip = false;
  std::optional<Reply> refusal{};
  std::function<void(UniqueFd, std::string)> takes_over{};  ///< of the answer

  /// The next request's start is known only after one that was understood and read completely.
  bool must_close() const {
    return !has_head || has_unread_body || refusal.has_value() || takes_over;
  }
};

thread_local GuardedServer::Exchange* GuardedServer::current_ = nullptr;

/// The library does not pass the connection to its handlers; the thread knows it.
struct GuardedServer::Current {
  explicit Current(Exchange& exchange) { current_ = &exchange; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_ = nullptr; }
};

GuardedServer::GuardedServer(const ServerSettings& settings, Answers answers, log::Logger logger,
                             SystemCalls calls)
    : settings_(settings),
      rules_(rules_of(settings)),
      socket_rules_{{}, settings.body_bytes_max},
      answers_(std::move(answers)),
      logger_(std::move(logger)),
      calls_(std::move(calls)),
      admissions_{{settings.connections_max, settings.connections_per_address_max},
                  {settings.connections_max, settings.connections_per_address_max}},
      reception_(settings_, admissions_,
                 {.refuse = answers_.to_arrival,
                  .serve = [this](auto& client) { return hand_over(client); },
                  .note =
                      [this](const std::string& problem) {
                        acceptor_problem_ = problem;
                        note();
                      }},
                 calls_.accept, logger_) {
  set_payload_max_length(settings_.body_bytes_max);
  set_default_headers({default_headers().begin(), default_headers().end()});
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
  set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    explain_failure(request, response);
  });
  set_exception_handler([this](const httplib::Request& /*request*/, httplib::Response& response,
                               std::exception_ptr what) { report_exception(response, what); });
  set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    finish_headers(response);
    log_request(request, response);
  });
}

Status GuardedServer::start() {
  TW_TRY_VOID(reception_.open());
  workers_ = std::make_unique<ConnectionWorkers>(
      static_cast<std::size_t>(settings_.threads),
      [this](std::unique_ptr<Client> client) { serve(std::move(client)); }, calls_.spawn);
  try {
    receiving_ = std::jthread([this](const std::stop_token& stop) { reception_.run(stop); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable, std::string("no thread to serve with: ") + error.what());
  }
  return {};
}

void GuardedServer::end() {
  receiving_.request_stop();
  if (receiving_.joinable()) {
    reception_.wake();
    receiving_.join();
  }
  admissions_.over_port.shut_all();
  admissions_.over_socket.shut_all();
  workers_.reset();
}

bool GuardedServer::hand_over(std::unique_ptr<Client>& client) {
  const bool is_taken = workers_->add(client);
  const auto missing = workers_->missing();
  const std::string shortage =
      missing == 0
          ? ""
          : "only " + std::to_string(settings_.threads - static_cast<int>(missing)) + " of " +
                std::to_string(settings_.threads) + " threads to answer requests could be started";
  if (shortage != shortage_) {
    shortage_ = shortage;
    note();
  }
  return is_taken;
}

void GuardedServer::note() const {
  if (settings_.note) settings_.note(acceptor_problem_.empty() ? shortage_ : acceptor_problem_);
}

void GuardedServer::serve(std::unique_ptr<Client> client) {
  try {
    client->is_last = !serve_request(*client);
  } catch (const std::exception& exception) {
    // From the library, or out of memory: this connection ends, the daemon continues.
    logger_.error(std::string("connection ended by an exception: ") + exception.what(),
                  {{"peer", client->peer.address}});
    return;
  }
  if (client->is_last && client->unsent.empty()) return;
  reception_.take_back(std::move(client));
}

bool GuardedServer::serve_request(Client& client) {
  GuardedStream stream(client, settings_.head_bytes_max);
  Exchange exchange{.stream = &stream, .begun = GuardedStream::Clock::now()};
  const Current current(exchange);
  const bool is_last = --client.requests_left <= 0;
  bool is_closed = is_last;
  const bool is_answered = process_request(
      stream, is_last, is_closed, [&](httplib::Request& request) { set_up(request, exchange); });
  if (is_answered && exchange.takes_over) {
    exchange.takes_over(client.connection.release(), std::exchange(client.unsent, {}));
  }
  return is_answered && !is_closed && !exchange.must_close();
}

void GuardedServer::set_up(httplib::Request& request, Exchange& exchange) {
  exchange.has_head = true;
  exchange.accepts_gzip = accepts_gzip(request);
  disarm(request);
  exchange.has_unread_body = announces_body(request);
  exchange.refusal = refusal_of(request, exchange.stream->origin().user ? socket_rules_ : rules_);
  if (exchange.refusal) request.headers.erase("Expect");
  exchange.stream->begin_body(settings_.body_bytes_max + kFramingBytes, settings_.body_time_limit,
                              request.has_header("Transfer-Encoding"));
}

httplib::Server::HandlerResponse GuardedServer::answer_head(const httplib::Request& request,
                                                            httplib::Response& response) {
  Request seen = request_of(request, current_->stream->origin());
  seen.accepts_gzip = current_->accepts_gzip;
  auto reply = current_->refusal ? current_->refusal : answers_.to_head(seen);
  if (!reply && request.method == "POST") return HandlerResponse::Unhandled;
  if (!reply) reply = answers_.to_request(seen);
  if (request.method != "HEAD") current_->takes_over = std::move(reply->takes_over);
  put(std::move(*reply), response);
  return HandlerResponse::Handled;
}

void GuardedServer::answer_whole(const httplib::Request& request, httplib::Response& response) {
  current_->has_unread_body = false;
  // The library counts the bytes of plain bodies only.
  put(request.body.size() > settings_.body_bytes_max
          ? problem(413, "the body is too long: at most " +
                             std::to_string(settings_.body_bytes_max) + " bytes")
          : answers_.to_request(request_of(request, current_->stream->origin())),
      response);
}

void GuardedServer::put(Reply reply, httplib::Response& response) const {
  reply = shown_to(current_->stream->origin(), std::move(reply), settings_.page_of);
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
  for (const auto& [name, value] : reply.headers) {
    response.headers.erase(name);  // the reply's own Cache-Control replaces the default
    response.set_header(name, value);
  }
}

void GuardedServer::explain_failure(const httplib::Request& request, httplib::Response& response) {
  if (!response.body.empty()) return;
  if (!current_->has_head && current_->stream->end() == GuardedStream::End::none) {
    const auto asked = asked_with_unknown_method(request);
    const auto reply = asked ? answers_.to_head(*asked) : std::nullopt;
    if (reply) return put(*reply, response);
  }
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
  if (current_->takes_over) response.headers.erase("Content-Length");
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
                 {"peer", current_->stream->origin().address}});
}

}  // namespace torchwatch::http
