#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client.hpp"
#include "torchwatch/http/exchange.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::http {

/// The clients between their requests: reads their heads, sends what they did not take of an answer
/// at once, and lets go who is late. Never waits: the owner of `epoll` waits for all of them, and
/// calls when one is ready. Not thread-safe.
class WaitingClients {
 public:
  using Clock = Client::Clock;
  using Id = std::uint64_t;           ///< of a client, also in `epoll`
  static constexpr Id kFirstId = 16;  ///< those below are for what else `epoll` watches
  /// Looks at a head that has arrived; a reply ends the request there. Must not block.
  using Refuse = std::function<std::optional<Reply>(const Head&, const Origin&)>;
  /// Takes a client over; false, and the client stays, if nobody can serve it.
  using Serve = std::function<bool(std::unique_ptr<Client>&)>;

  /// The settings, the admissions and `epoll` must outlive this.
  WaitingClients(const ServerSettings&, Admissions&, const UniqueFd& epoll, Refuse, Serve);

  /// Lets a new client in; one of unknown origin, or without a place, is answered 503 and closed.
  void admit(int socket, const std::optional<Origin>& from);
  /// Takes in a client that was answered: sends the rest of the answer, or waits for its next head.
  void settle(std::unique_ptr<Client>);
  /// Receives or sends, as the client's `events` allow; does nothing if the client is gone.
  void attend(Id, std::uint32_t events);
  /// Lets go whose deadline has come; who rested after a refusal may ask again.
  void expire(Clock::time_point now);
  /// Returns when to call `expire` next: at the latest when a client's deadline comes.
  Clock::time_point next_deadline() const { return next_deadline_; }
  void clear() { clients_.clear(); }

 private:
  Admission& admission_of(const Origin& peer) const;
  Admission::Place place_for(const Origin& peer) const;
  bool make_place_for(const Origin& peer);
  void give_until(Clock::time_point deadline, Client&);
  void receive(Id, Client&);
  void send_rest(Id, Client&);
  void look_at_head(Id, Client&);
  void pass_on(Id, Client&);
  void refuse(Id, Client&, const Reply&, bool has_body);
  void watch(Id, Client&, std::uint32_t events) const;
  void unwatch(Client&) const;
  std::unique_ptr<Client> take_out(Id);
  void end(Id id) { clients_.erase(id); }

  const ServerSettings& settings_;
  Admissions& admissions_;
  const UniqueFd& epoll_;
  const Refuse refuse_;
  const Serve serve_;
  std::map<Id, std::unique_ptr<Client>> clients_;  ///< who has asked for nothing longest, first
  Id next_id_ = kFirstId;
  std::array<char, 16U << 10U> buffer_{};  ///< what was received last
  /// No client's deadline is earlier. Kept, as each request would look at all clients for it.
  Clock::time_point next_deadline_ = Clock::time_point::max();
};

}  // namespace torchwatch::http
