#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/session.hpp"
#include "torchwatch/report/outbox_sender.hpp"
#include "torchwatch/web/server.hpp"

namespace torchwatch::daemon {

/// The sender of the outbox to [github], kept as long as there is something to send: it remembers
/// a rate limit's quiet period.
class Outbox {
 public:
  /// Without [github] nothing is ever sent. Errors: of the token file.
  static Result<Outbox> open(Session&);

  /// Sends what is due; what cannot be sent now stays. Errors: of storage.
  Result<report::Delivery> deliver(std::stop_token stop);

 private:
  struct Parts;
  struct Remove {
    void operator()(Parts*) const;
  };
  std::unique_ptr<Parts, Remove> parts_;  ///< none without [github]
};

/// `torchwatch serve`: the HTTP API, and a pipeline that works off what was asked for and every
/// nightly without a verdict, oldest first. Tests start it on port 0.
class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(Session&);
  ~Daemon();

  int port() const { return server_->port(); }

  /// Works until `stop`. Errors of the surroundings are shown by /healthz and tried again; only
  /// what cannot mend ends it (a corrupt database).
  Status run(std::stop_token stop);

 private:
  Daemon(Session& session, Outbox outbox) : session_(session), outbox_(std::move(outbox)) {}
  Status start_server();
  /// One look at everything; true if something was done and another look is worth it at once.
  Result<bool> work_once(std::stop_token stop);
  Result<bool> work_off_request(std::stop_token stop);
  Status work_off_nights(std::stop_token stop);
  void set_problem(const std::string& problem);
  void wait(std::chrono::seconds, std::stop_token);

  Session& session_;
  Outbox outbox_;
  std::unique_ptr<web::Server> server_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool woken_ = false;
  std::string problem_;
};

}  // namespace torchwatch::daemon
