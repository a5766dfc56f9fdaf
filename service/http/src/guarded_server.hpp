#pragma once

#include <httplib.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "admission.hpp"
#include "connection_workers.hpp"
#include "guarded_stream.hpp"
#include "reception.hpp"
#include "request_guard.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::http {

/// What answers. Both are called from several threads.
struct Answers {
  /// Looks at a head; a reply ends the request there, before its body is read.
  std::function<std::optional<Reply>(const Request&)> to_head;
  /// Answers a whole request.
  std::function<Reply(const Request&)> to_request;
  /// Looks at a head that has just arrived, before a thread is spent on it; a reply ends the
  /// request there. May be absent; must not block.
  std::function<std::optional<Reply>(const Head&, const Origin&)> to_arrival{};
};

/// Calls of the system that tests let fail.
struct SystemCalls {
  Accept accept = accept4;
  ConnectionWorkers::Spawn spawn = [](std::function<void()> work) {
    return std::thread(std::move(work));
  };
};

/// cpp-httplib's server with limits that hold (those of 0.11.4 do not): time and size of head, body
/// and answer, connections in total and per address, unambiguous framing, known hosts. Logs each
/// request. The library parses and writes; connections are the reception's.
class GuardedServer final : public httplib::Server {
 public:
  GuardedServer(const ServerSettings&, Answers, log::Logger = {}, SystemCalls = {});
  ~GuardedServer() override;

  /// Errors: conflict (port taken), invalid (address), unavailable (no thread), those of
  /// platform::ListeningSocket.
  Status start();
  int port() const { return reception_.port(); }
  void end();  ///< stops and joins; may be repeated

 private:
  struct Exchange;  ///< the request that this thread serves
  struct Current;

  bool hand_over(std::unique_ptr<Client>&);
  void note() const;
  void serve(std::unique_ptr<Client>);
  bool serve_request(Client&);
  void set_up(httplib::Request&, Exchange&);
  HandlerResponse answer_head(const httplib::Request&, httplib::Response&);
  void answer_whole(const httplib::Request&, httplib::Response&);
  void put(Reply, httplib::Response&) const;
  void explain_failure(const httplib::Request&, httplib::Response&);
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
  const SystemCalls calls_;
  Admissions admissions_;
  Reception reception_;
  std::unique_ptr<ConnectionWorkers> workers_;
  std::string shortage_;          ///< of threads; the reception's thread alone uses it
  std::string acceptor_problem_;  ///< likewise
  std::jthread receiving_;
};

}  // namespace torchwatch::http
