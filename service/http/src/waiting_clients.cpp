#include "waiting_clients.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "representation.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

constexpr std::size_t kReadAtOnce = 16U << 10U;

/// Sends what the client takes at once: nobody waits for it.
ssize_t send_now(int socket, const std::string& bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void turn_away(int socket, const std::string& why) {
  send_now(socket, plain_reply(problem(503, why, {}, "try again later"),
                               {{"Retry-After", "1"}, {"Connection", "close"}}));
}

}  // namespace

WaitingClients::WaitingClients(const ServerSettings& settings, Admission& admission,
                               const UniqueFd& epoll, Refuse refuse, Serve serve)
    : settings_(settings),
      admission_(admission),
      epoll_(epoll),
      refuse_(std::move(refuse)),
      serve_(std::move(serve)) {}

void WaitingClients::admit(int socket, const std::optional<Origin>& from) {
  if (!from || !make_place_for(from->address)) {
    turn_away(socket, "too many connections");
    close(socket);
    return;
  }
  auto client = std::make_unique<Client>(Admission::Connection(admission_, socket, from->address),
                                         *from, settings_.requests_per_connection_max);
  if (!from->user) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  client->since = Clock::now();
  give_until(client->since + settings_.head_time_limit, *client);  // as long as for its head
  const Id id = next_id_++;
  watch(EPOLL_CTL_ADD, id, *client, EPOLLIN);
  clients_.emplace(id, std::move(client));
}

/// A client that asks for nothing yet gives its place to a new one: nobody keeps others out by
/// holding connections.
bool WaitingClients::make_place_for(const std::string& address) {
  const bool is_proxy =
      std::ranges::find(settings_.trusted_proxies, address) != settings_.trusted_proxies.end();
  const auto place = admission_.place_for(address, is_proxy);
  if (place == Admission::Place::free) return true;
  const std::string busiest =
      place == Admission::Place::address_full ? address : admission_.busiest();
  auto oldest = clients_.end();
  for (auto each = clients_.begin(); each != clients_.end(); ++each) {
    const Client& client = *each->second;
    if (oldest != clients_.end() && client.since >= oldest->second->since) continue;
    if (client.unsent.empty() && client.peer.address == busiest) oldest = each;
  }
  if (oldest == clients_.end()) return false;
  clients_.erase(oldest);
  return true;
}

void WaitingClients::settle(std::unique_ptr<Client> taken) {
  const Id id = next_id_++;
  Client& client = *taken;
  clients_.emplace(id, std::move(taken));
  client.since = Clock::now();
  if (!client.unsent.empty()) {
    give_until(client.since + settings_.answer_time_limit, client);
    return watch(EPOLL_CTL_ADD, id, client, EPOLLOUT);
  }
  const bool has_begun = !client.arrived.empty();
  give_until(client.since + (has_begun ? settings_.head_time_limit : settings_.idle_time_limit),
             client);
  client.scanner = HeadScanner();
  client.scanned = 0;
  watch(EPOLL_CTL_ADD, id, client, EPOLLIN);
  look_at_head(id, client);
}

void WaitingClients::attend(Id id, std::uint32_t events) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;  // let go earlier in this round
  Client& client = *found->second;
  if (!client.unsent.empty()) return send_rest(id, client);
  const bool is_gone = (events & EPOLLIN) == 0;
  if (is_gone || client.is_resting) return end(id);
  receive(id, client);
}

void WaitingClients::receive(Id id, Client& client) {
  std::array<char, kReadAtOnce> buffer{};
  const ssize_t got = recv(client.connection.socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(id);
  if (client.arrived.empty()) give_until(Clock::now() + settings_.head_time_limit, client);
  client.arrived.append(buffer.data(), static_cast<std::size_t>(got));
  look_at_head(id, client);
}

void WaitingClients::send_rest(Id id, Client& client) {
  const ssize_t sent = send_now(client.connection.socket(), client.unsent);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return end(id);
  if (sent > 0) client.unsent.erase(0, static_cast<std::size_t>(sent));
  if (!client.unsent.empty()) return;
  if (client.is_last) return end(id);
  settle(take_out(id));
}

/// A head that is refused is handed over as well: a worker explains what is wrong with it.
void WaitingClients::look_at_head(Id id, Client& client) {
  const std::string& bytes = client.arrived;
  std::size_t& at = client.scanned;
  while (at < bytes.size() && at < settings_.head_bytes_max && !client.scanner.is_whole()) {
    if (client.scanner.see(bytes[at++]) != HeadScanner::Scan::fine) return pass_on(id, client);
  }
  if (at >= settings_.head_bytes_max && !client.scanner.is_whole()) return pass_on(id, client);
  if (!client.scanner.is_whole()) return;
  const auto head = read_head(std::string_view(bytes).substr(0, at));
  client.origin = origin_of(client.peer, head, settings_.trusted_proxies);
  if (const auto refusal = refuse_(head, client.origin)) {
    return refuse(id, client, *refusal, head.has_body);
  }
  pass_on(id, client);
}

void WaitingClients::pass_on(Id id, Client& client) {
  if (client.origin.address.empty()) client.origin = client.peer;
  auto taken = take_out(id);
  if (serve_(taken)) return;
  turn_away(client.connection.socket(), "no thread is left to answer");
}

void WaitingClients::refuse(Id id, Client& client, const Reply& reply, bool has_body) {
  const bool ends = has_body || --client.requests_left <= 0;
  const auto text = plain_reply(reply, {{"Connection", ends ? "close" : "keep-alive"}});
  const auto sent = send_now(client.connection.socket(), text);
  if (ends || sent != static_cast<ssize_t>(text.size())) return end(id);
  client.arrived.erase(0, client.scanned);
  client.is_resting = true;
  client.since = Clock::now();
  give_until(client.since + settings_.rest_time, client);
  watch(EPOLL_CTL_MOD, id, client, 0);
}

void WaitingClients::give_until(Clock::time_point deadline, Client& client) {
  client.deadline = deadline;
  next_deadline_ = std::min(next_deadline_, deadline);
}

void WaitingClients::expire(Clock::time_point now) {
  if (now < next_deadline_) return;
  std::vector<Id> late;
  next_deadline_ = Clock::time_point::max();
  for (const auto& [id, client] : clients_) {
    if (client->deadline <= now) {
      late.push_back(id);
    } else {
      next_deadline_ = std::min(next_deadline_, client->deadline);
    }
  }
  for (const Id id : late) {
    Client& client = *clients_.at(id);
    if (std::exchange(client.is_resting, false)) {
      settle(take_out(id));
      continue;
    }
    if (client.unsent.empty() && !client.arrived.empty()) {
      send_now(client.connection.socket(),
               plain_reply(problem(408, "the request did not arrive in time"),
                           {{"Connection", "close"}}));
    }
    end(id);
  }
}

void WaitingClients::watch(int operation, Id id, const Client& client, std::uint32_t events) const {
  epoll_event event{events, {.u64 = id}};
  epoll_ctl(epoll_.get(), operation, client.connection.socket(), &event);
}

std::unique_ptr<Client> WaitingClients::take_out(Id id) {
  auto taken = std::move(clients_.at(id));
  clients_.erase(id);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, taken->connection.socket(), nullptr);
  return taken;
}

}  // namespace torchwatch::http
