#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "admission.hpp"
#include "connection_workers.hpp"
#include "guarded_stream.hpp"
#include "request_guard.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/unix_socket.hpp"

namespace torchwatch::http {

/// What answers. Both are called from several threads.
struct Answers {
  /// Looks at a head; a reply ends the request there, before its body is read.
  std::function<std::optional<Reply>(const Request&)> to_head;
  /// Answers a whole request.
  std::function<Reply(const Request&)> to_request;
};

/// cpp-httplib's server with limits that hold (those of 0.11.4 do not): time and size of head, body
/// and answer, connections in total and per address, unambiguous framing, known hosts. Logs each
/// request.
class GuardedServer final : public httplib::Server {
 public:
  GuardedServer(const ServerSettings&, Answers, log::Logger = {});
  ~GuardedServer() override;

  /// Errors: conflict (port taken), invalid (address), those of platform::ListeningSocket.
  Status start();
  int port() const { return port_; }
  void end();  ///< stops and joins; may be repeated

 private:
  struct Exchange;  ///< the request that this thread serves
  struct Current;

  bool process_and_close_socket(socket_t socket) override;
  Status bind_address();
  void accept_on_socket(const std::stop_token&);
  bool admit(int socket, const std::string& address, std::optional<uid_t> user);
  void serve(Admission::Connection&);
  void serve_requests(Admission::Connection&);
  bool serve_request(GuardedStream&, bool is_last);
  void set_up(httplib::Request&, Exchange&);
  HandlerResponse answer_head(const httplib::Request&, httplib::Response&);
  void answer_whole(const httplib::Request&, httplib::Response&);
  void explain_failure(httplib::Response&);
  void finish_headers(httplib::Response&);
  void log_request(const httplib::Request&, const httplib::Response&) const;
  void report_exception(httplib::Response&, const std::exception_ptr&);
  void install_handlers();

  static thread_local Exchange* current_;

  const ServerSettings settings_;
  const GuardRules rules_;
  const GuardRules socket_rules_;  ///< what knows the file's path knows the host
  const Answers answers_;
  const log::Logger logger_;
  Admission admission_;
  std::mutex admitting_;  ///< there are two acceptors
  std::unique_ptr<ConnectionWorkers> workers_;
  std::optional<platform::ListeningSocket> socket_;
  std::thread acceptor_;
  std::jthread socket_acceptor_;
  int port_ = 0;
};

}  // namespace torchwatch::http
