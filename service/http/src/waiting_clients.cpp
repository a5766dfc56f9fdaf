#include "waiting_clients.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "representation.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

/// Sends what the client takes at once: nobody waits for it.
ssize_t send_now(int socket, const std::string& bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void turn_away(int socket, const Reply& problem) {
  send_now(socket, plain_reply(problem, {{"Retry-After", "1"}, {"Connection", "close"}}));
}

Reply come_later(const std::string& why) {
  return problem(503, why, {}, "try again later");
}

/// Notes who sends a head that is not whole, or is refused: a browser gets a page of why.
void note_origin(Client& client) {
  if (!client.origin.address.empty()) return;
  const auto head = read_head(std::string_view(client.arrived).substr(0, client.scanned));
  client.origin = client.peer;
  client.origin.wants_page = head.wants_page;
  client.origin.target = head.target;
}

/// Returns the address of which most clients wait for their next request; empty: none waits.
std::string busiest(const std::map<WaitingClients::Id, std::unique_ptr<Client>>& clients,
                    bool is_user) {
  std::map<std::string_view, int> waiting;
  for (const auto& [id, client] : clients) {
    const bool counts = client->unsent.empty() && client->peer.user.has_value() == is_user;
    if (counts) ++waiting[client->peer.address];
  }
  const auto most = std::ranges::max_element(
      waiting, {}, [](const auto& address_and_count) { return address_and_count.second; });
  return most == waiting.end() ? "" : std::string(most->first);
}

}  // namespace

WaitingClients::WaitingClients(const ServerSettings& settings, Admissions& admissions,
                               const UniqueFd& epoll, Refuse refuse, Serve serve)
    : settings_(settings),
      admissions_(admissions),
      epoll_(epoll),
      refuse_(std::move(refuse)),
      serve_(std::move(serve)) {}

void WaitingClients::admit(int socket, const std::optional<Origin>& from) {
  if (!from || !make_place_for(*from)) {
    turn_away(socket, come_later("too many connections"));
    close(socket);
    return;
  }
  auto client =
      std::make_unique<Client>(Admission::Connection(admission_of(*from), socket, from->address),
                               *from, settings_.requests_per_connection_max);
  give_until(Clock::now() + settings_.head_time_limit, *client);  // as long as for its head
  const Id id = next_id_++;
  clients_.emplace(id, std::move(client));
  // Most heads come with their connections, and one that is refused then was never waited for.
  attend(id, EPOLLIN);
  if (const auto found = clients_.find(id); found != clients_.end() && !found->second->is_resting) {
    watch(id, *found->second, EPOLLIN);
  }
}

Admission& WaitingClients::admission_of(const Origin& peer) const {
  return peer.user ? admissions_.over_socket : admissions_.over_port;
}

Admission::Place WaitingClients::place_for(const Origin& peer) const {
  const auto& proxies = settings_.trusted_proxies;
  const bool is_proxy = std::ranges::find(proxies, peer.address) != proxies.end();
  return admission_of(peer).place_for(peer.address, is_proxy);
}

/// A client that asks for nothing yet gives its place to a new one: nobody keeps others out by
/// holding connections.
bool WaitingClients::make_place_for(const Origin& peer) {
  const auto place = place_for(peer);
  if (place == Admission::Place::free) return true;
  const bool is_user = peer.user.has_value();
  const std::string address =
      place == Admission::Place::address_full ? peer.address : busiest(clients_, is_user);
  const auto oldest = std::ranges::find_if(clients_, [&](const auto& id_and_client) {
    const Client& client = *id_and_client.second;
    return client.unsent.empty() && client.peer.address == address;
  });
  if (oldest == clients_.end()) return false;
  clients_.erase(oldest);
  return true;
}

void WaitingClients::settle(std::unique_ptr<Client> taken) {
  const Id id = next_id_++;
  Client& client = *taken;
  clients_.emplace(id, std::move(taken));
  const auto now = Clock::now();
  if (!client.unsent.empty()) {
    give_until(now + settings_.answer_time_limit, client);
    return watch(id, client, EPOLLOUT);
  }
  const bool has_begun = !client.arrived.empty();
  give_until(now + (has_begun ? settings_.head_time_limit : settings_.idle_time_limit), client);
  client.scanner = HeadScanner();
  client.scanned = 0;
  watch(id, client, EPOLLIN);
  look_at_head(id, client);
}

void WaitingClients::attend(Id id, std::uint32_t events) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;  // let go earlier in this round
  Client& client = *found->second;
  if (!client.unsent.empty()) return send_rest(id, client);
  const bool is_gone = (events & EPOLLIN) == 0;
  if (is_gone) return end(id);
  receive(id, client);
}

void WaitingClients::receive(Id id, Client& client) {
  const ssize_t got =
      recv(client.connection.socket(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(id);
  if (client.arrived.empty()) give_until(Clock::now() + settings_.head_time_limit, client);
  client.arrived.append(buffer_.data(), static_cast<std::size_t>(got));
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
  note_origin(client);
  auto taken = take_out(id);
  if (serve_(taken)) return;
  turn_away(client.connection.socket(),
            shown_to(client.origin, come_later("no thread is left to answer"), settings_.page_of));
}

void WaitingClients::refuse(Id id, Client& client, const Reply& reply, bool has_body) {
  // Nobody rests in the last place: the next one would have to look for somebody to replace.
  const bool is_place_wanted = place_for(client.peer) != Admission::Place::free;
  const bool ends = has_body || --client.requests_left <= 0 || is_place_wanted;
  const auto text = plain_reply(shown_to(client.origin, reply, settings_.page_of),
                                {{"Connection", ends ? "close" : "keep-alive"}});
  const auto sent = send_now(client.connection.socket(), text);
  if (ends || sent != static_cast<ssize_t>(text.size())) return end(id);
  client.arrived.erase(0, client.scanned);
  client.is_resting = true;
  give_until(Clock::now() + settings_.rest_time, client);
  unwatch(client);
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
      note_origin(client);
      const auto why = problem(408, "the request did not arrive in time");
      send_now(
          client.connection.socket(),
          plain_reply(shown_to(client.origin, why, settings_.page_of), {{"Connection", "close"}}));
    }
    end(id);
  }
}

void WaitingClients::watch(Id id, Client& client, std::uint32_t events) const {
  epoll_event event{events, {.u64 = id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.connection.socket(), &event);
  client.is_watched = true;
}

void WaitingClients::unwatch(Client& client) const {
  if (!std::exchange(client.is_watched, false)) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, client.connection.socket(), nullptr);
}

std::unique_ptr<Client> WaitingClients::take_out(Id id) {
  auto taken = std::move(clients_.at(id));
  clients_.erase(id);
  unwatch(*taken);
  return taken;
}

}  // namespace torchwatch::http
