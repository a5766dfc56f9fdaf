#pragma once

#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "acceptor.hpp"
#include "client.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::http {

/// Accepts connections, reads the heads of requests and sends what answers their clients did not
/// take at once: one thread for all of them, which never waits for one. Only a client whose head
/// has arrived is handed over to a worker. Errors of accept() end nothing: the acceptor rests for a
/// while, or is opened anew.
class Reception {
 public:
  using Clock = Client::Clock;
  struct Calls {
    /// Looks at a head that has arrived; a reply ends the request there. Must not block.
    std::function<std::optional<Reply>(const Head&, const Origin&)> refuse;
    /// Takes a client over; false, and the client stays, if nobody can serve it.
    std::function<bool(std::unique_ptr<Client>&)> serve;
    /// Is told what keeps clients out, in a sentence, and "" once nothing does.
    std::function<void(const std::string&)> note;
  };

  /// The settings and the admission must outlive the reception.
  Reception(const ServerSettings&, Admission&, Calls, Accept accept, log::Logger);

  /// Opens the acceptors. Errors: those of Acceptor::open; unavailable.
  Status open();
  int port() const { return port_; }
  /// Works until the end is asked for by `stop` and `wake`.
  void run(const std::stop_token& stop);
  void wake();
  /// Takes a client back from a worker. Thread-safe.
  void take_back(std::unique_ptr<Client>);

 private:
  using Id = std::uint64_t;

  void work_a_round();
  void attend_acceptor(Acceptor&);
  void accept_all(Acceptor&);
  void admit(const Acceptor&, int socket, const sockaddr_storage& peer);
  bool make_place_for(const std::string& address);
  void attend_client(Id, std::uint32_t events);
  void collect_returned();
  void settle(std::unique_ptr<Client>);
  void receive(Id, Client&);
  void send_rest(Id, Client&);
  void look_at_head(Id, Client&);
  void pass_on(Id, Client&);
  void refuse(Id, Client&, const Reply&, std::size_t head_bytes, bool has_body);
  void end(Id id) { clients_.erase(id); }
  void expire(Clock::time_point now);
  void watch(Id, const Client&, std::uint32_t events, bool is_new) const;
  void tell();
  int wait_ms() const;

  const ServerSettings& settings_;
  Admission& admission_;
  const Calls calls_;
  const Accept accept_;
  const log::Logger logger_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::vector<Acceptor> acceptors_;
  int port_ = 0;
  std::unordered_map<Id, std::unique_ptr<Client>> clients_;
  Id next_id_ = 16;  ///< those below are acceptors and the wake-up
  std::mutex mutex_;
  std::vector<std::unique_ptr<Client>> returned_;
  std::string told_;
  long refused_ = 0;          ///< since they were logged
  bool has_refused_ = false;  ///< in the round before
  Clock::time_point tell_refused_at_;
};

}  // namespace torchwatch::http
