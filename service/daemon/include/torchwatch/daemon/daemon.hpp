#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "torchwatch/api/api.hpp"
#include "torchwatch/caches/folder_sizes.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/events/feed.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/health/health.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/oidc/signed_tokens.hpp"
#include "torchwatch/platform/rounds.hpp"
#include "torchwatch/signin/accepted_tokens.hpp"
#include "torchwatch/signin/sign_ins.hpp"

namespace torchwatch::daemon {

/// Sends the outbox to [github]. Keep one for the daemon's life: it remembers how long a rate limit
/// lasts. Not thread-safe.
class Outbox {
 public:
  /// Opens an outbox that sends nothing if [github] is not configured. A token that cannot be read
  /// is a problem of each delivery until it can. Errors: invalid, without [github] token_file.
  static Result<Outbox> open(Application&);

  /// Sends what is due; what cannot be sent now stays. Returns why the newest message that failed
  /// waits, also if it failed before this daemon started; empty where none does. Errors: those of
  /// storage.
  Result<std::string> deliver(std::stop_token stop);

 private:
  struct Parts;
  struct Remove {
    void operator()(Parts*) const;
  };
  std::unique_ptr<Parts, Remove> parts_;  ///< null without [github]
};

class DatabaseUpkeep;
class Deliveries;
class Housekeeping;
struct Conversing;

/// Does what `torchwatch serve` does: serves the HTTP API and the pages, compares every nightly
/// without a verdict, oldest first, and carries out requests. An item that cannot continue waits
/// or ends by itself; the others continue.
class Daemon {
 public:
  /// Takes the machine's lock and begins to serve; requests are carried out by `run`. The
  /// application must outlive the daemon. Errors: conflict (machine, port, socket), invalid, those
  /// of the token files.
  static Result<std::unique_ptr<Daemon>> start(Application&);
  ~Daemon();

  int port() const { return server_->port(); }

  /// Works until `stop`; /healthz shows meanwhile what does not work. Errors: damaged (the
  /// database).
  Status run(std::stop_token stop);

 private:
  Daemon(Application& application, std::unique_ptr<storage::Database> reader);
  Status start_server();
  Result<std::vector<http::Route>> make_routes();
  health::Report service_now() const;
  api::Backend backend(storage::Database&);
  /// Works on one item. True if there was one, and another look is worth it at once; else the
  /// machine is free for commands that measure.
  Result<bool> work_once(std::stop_token stop);
  Result<bool> work_guarded(std::stop_token stop);
  /// Works on one item: a hurried request before a nightly, a nightly before a request, a request
  /// before what somebody began on a command line. False as well while somebody else measures.
  bool holds_machine();
  Result<bool> may_begin(const std::stop_token& stop);
  Result<bool> attend_next(std::stop_token stop);
  Status keep_house(std::stop_token stop);
  Status note_unless_it_stops(const std::string& source, const Status& done);
  Status look_at_nodes();
  Status look_for_nightlies(std::stop_token stop);
  Result<bool> attend_next_bisection(std::stop_token stop);
  void note(const std::string& source, const std::string& problem);

  Application& application_;
  /// What is shown is read beside the connection that stores: neither waits for the other.
  std::unique_ptr<storage::Database> reader_;
  const log::Logger logger_;
  const storage::WallMillis started_;
  health::Health health_;                     ///< before the server, whose threads read it
  const report::CountCommits count_commits_;  ///< likewise
  std::unique_ptr<Housekeeping> housekeeping_;
  std::unique_ptr<DatabaseUpkeep> upkeep_;             ///< likewise
  std::unique_ptr<signin::AcceptedTokens> tokens_;     ///< likewise
  std::unique_ptr<oidc::SignedTokens> signed_tokens_;  ///< likewise
  std::unique_ptr<signin::SignIns> sign_ins_;          ///< likewise
  std::unique_ptr<events::Feed> feed_;                 ///< likewise: they hand clients over to it
  std::unique_ptr<Conversing> conversing_;             ///< likewise; null without [github]
  std::unique_ptr<caches::FolderSizes> folder_sizes_;  ///< likewise
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Deliveries> deliveries_;
  platform::Sleeper sleeper_;
  bool are_nodes_known_ = false;           ///< nothing was measured since they were looked at
  std::string who_measures_;               ///< somebody else for whom it waits, as the log has it
  std::chrono::nanoseconds next_look_{0};  ///< at the channel; monotonic
};

}  // namespace torchwatch::daemon
