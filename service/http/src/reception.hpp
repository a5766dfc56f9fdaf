#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "acceptor.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/records/unique_fd.hpp"
#include "waiting_clients.hpp"

namespace torchwatch::http {

/// Accepts connections and attends clients between their requests: one thread for all of them,
/// which never waits for one. Only a client whose head has arrived is handed over to a worker.
/// Errors of accept() end nothing: the acceptor rests for a while, or is opened anew.
class Reception {
 public:
  using Clock = Client::Clock;
  struct Calls {
    WaitingClients::Refuse refuse;  ///< may be absent
    WaitingClients::Serve serve;
    /// Gets what keeps clients out, in a sentence, and "" once nothing does.
    std::function<void(const std::string&)> note;
  };

  /// The settings and the admissions must outlive the reception.
  Reception(const ServerSettings&, Admissions&, Calls, Accept accept, log::Logger);

  /// Opens the acceptors. Errors: those of Acceptor::open; unavailable.
  Status open();
  int port() const { return port_; }
  /// Works until the end is asked for by `stop` and `wake`.
  void run(const std::stop_token& stop);
  void wake();
  /// Takes a client back from a worker. Thread-safe.
  void take_back(std::unique_ptr<Client>);

 private:
  void work_a_round();
  void attend_acceptor(Acceptor&);
  void accept_all(Acceptor&);
  void end_rests(Clock::time_point now);
  void collect_returned();
  std::optional<Reply> refusal_of(const Head&, const Origin&);
  void tell();
  int wait_ms() const;

  const ServerSettings& settings_;
  const Calls calls_;
  const Accept accept_;
  const log::Logger logger_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::vector<Acceptor> acceptors_;
  int port_ = 0;
  WaitingClients clients_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Client>> returned_;
  bool is_over_ = false;  ///< takes nobody back any more
  std::string told_;
  long refused_ = 0;          ///< since they were logged
  bool has_refused_ = false;  ///< in the round before
  Clock::time_point tell_refused_at_;
};

}  // namespace torchwatch::http
