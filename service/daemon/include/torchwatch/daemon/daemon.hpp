#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::daemon {

/// Sends the outbox to [github]. Keep one for the daemon's life: it remembers how long a rate limit
/// lasts. Not thread-safe.
class Outbox {
 public:
  /// Opens an outbox that sends nothing if [github] is not configured. Errors: those of the token
  /// file.
  static Result<Outbox> open(Application&);

  /// Sends what is due; what cannot be sent now stays. Errors: those of storage.
  Result<github::Delivery> deliver(std::stop_token stop);

 private:
  struct Parts;
  struct Remove {
    void operator()(Parts*) const;
  };
  std::unique_ptr<Parts, Remove> parts_;  ///< null without [github]
};

/// Does what `torchwatch serve` does: serves the HTTP API and the pages, carries out requests, and
/// compares every nightly without a verdict, oldest first.
class Daemon {
 public:
  /// Takes the machine's lock and begins to serve; requests are carried out by `run`. The
  /// application must outlive the daemon. Errors: conflict (machine, port, socket), invalid, those
  /// of the token files.
  static Result<std::unique_ptr<Daemon>> start(Application&);
  ~Daemon();

  int port() const { return server_->port(); }

  /// Works until `stop`. After an error of the environment it tries again; /healthz shows the error
  /// meanwhile. Errors: only those that cannot pass (a corrupt database).
  Status run(std::stop_token stop);

 private:
  Daemon(Application& application, Outbox outbox)
      : application_(application),
        outbox_(std::move(outbox)),
        logger_(application.log().logger("daemon")) {}
  Status start_server();
  /// One look at everything; true if something was done and another look is worth it at once.
  Result<bool> work_once(std::stop_token stop);
  Result<bool> work_off_request(std::stop_token stop);
  Status work_off_comparisons(std::stop_token stop);
  void set_problem(const std::string& problem);
  void wait(std::chrono::seconds, std::stop_token);

  Application& application_;
  Outbox outbox_;
  const log::Logger logger_;
  std::unique_ptr<http::Server> server_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool woken_ = false;
  std::string problem_;
};

}  // namespace torchwatch::daemon
