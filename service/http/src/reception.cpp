#include "reception.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "representation.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kWakeId = 15;
constexpr int kAcceptedAtOnce = 64;
constexpr std::size_t kReadAtOnce = 16U << 10U;
constexpr std::chrono::seconds kTellRefusedEvery{10};
/// Under a flood many events are then attended in one round, which costs as much as one.
constexpr milliseconds kPauseAfterRefusal{2};

std::string address_of(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address =
      peer.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr;
  if (inet_ntop(peer.ss_family, address, text.data(), text.size()) == nullptr) return "";
  return plain_address(text.data());
}

Origin peer_at_port(const sockaddr_storage& peer) {
  const auto address = address_of(peer);
  return {.address = address, .is_local = is_loopback(address), .user = {}};
}

/// The user at the other end of a Unix socket, as the kernel vouches for it; nothing if it cannot.
std::optional<Origin> peer_at_socket(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return Origin{.address = "uid " + std::to_string(peer.uid), .is_local = true, .user = peer.uid};
}

/// Sends what the client takes at once: nobody waits for it.
ssize_t send_now(int socket, const std::string& bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

Reception::Reception(const ServerSettings& settings, Admission& admission, Calls calls,
                     Accept accept, log::Logger logger)
    : settings_(settings),
      admission_(admission),
      calls_(std::move(calls)),
      accept_(std::move(accept)),
      logger_(std::move(logger)) {}

Status Reception::open() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_.is_open() || !wake_.is_open()) {
    return fail(ErrorCode::unavailable, std::string("cannot serve: ") + std::strerror(errno));
  }
  epoll_event event{EPOLLIN, {.u64 = kWakeId}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  if (!settings_.socket.empty()) acceptors_.push_back(Acceptor::on_socket(settings_.socket));
  acceptors_.push_back(Acceptor::on_port(settings_.address, settings_.port));
  for (auto& acceptor : acceptors_) {
    TW_TRY_VOID(acceptor.open());
    attend_acceptor(acceptor);
  }
  port_ = port_of(acceptors_.back().socket());
  return {};
}

void Reception::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      work_a_round();
    } catch (const std::exception& exception) {
      // Out of memory: the clients at hand are let go, the daemon continues.
      logger_.error(std::string("all waiting connections were ended: ") + exception.what());
      clients_.clear();
    }
  }
  clients_.clear();
  acceptors_.clear();
}

void Reception::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
}

void Reception::take_back(std::unique_ptr<Client> client) {
  {
    const std::scoped_lock lock(mutex_);
    returned_.push_back(std::move(client));
  }
  wake();
}

void Reception::work_a_round() {
  if (std::exchange(has_refused_, false)) std::this_thread::sleep_for(kPauseAfterRefusal);
  std::array<epoll_event, 64> events{};
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWakeId) {
      collect_returned();
    } else if (event.data.u64 < acceptors_.size()) {
      accept_all(acceptors_[event.data.u64]);
    } else {
      attend_client(event.data.u64, event.events);
    }
  }
  expire(Clock::now());
  tell();
}

/// Waits at a acceptor, or opens it anew after its rest.
void Reception::attend_acceptor(Acceptor& acceptor) {
  if (!acceptor.is_open()) {
    if (const auto opened = acceptor.open(); !opened) {
      return acceptor.rest(AcceptError::broken, opened.error().message, Clock::now());
    }
    acceptor.works();
  }
  epoll_event event{EPOLLIN, {.u64 = static_cast<std::uint64_t>(&acceptor - acceptors_.data())}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, acceptor.socket(), &event);
}

void Reception::accept_all(Acceptor& acceptor) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int socket = accept_(acceptor.socket(), reinterpret_cast<sockaddr*>(&peer), &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      acceptor.works();
      admit(acceptor, socket, peer);
      continue;
    }
    const auto error = accept_error_of(errno);
    if (error == AcceptError::nobody_waits) return acceptor.works();
    if (error == AcceptError::client_gone) continue;
    const std::string reason = std::strerror(errno);
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, acceptor.socket(), nullptr);
    return acceptor.rest(error, reason, Clock::now());
  }
}

void Reception::admit(const Acceptor& acceptor, int socket, const sockaddr_storage& peer) {
  const std::optional<Origin> from =
      acceptor.is_on_port() ? peer_at_port(peer) : peer_at_socket(socket);
  if (!from || !make_place_for(from->address)) {
    send_now(socket, plain_reply(problem(503, "too many connections; try again later"),
                                 {{"Retry-After", "1"}, {"Connection", "close"}}));
    close(socket);
    return;
  }
  auto client = std::make_unique<Client>(Admission::Connection(admission_, socket, from->address),
                                         *from, settings_.requests_per_connection_max);
  if (acceptor.is_on_port()) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  client->since = Clock::now();
  client->deadline = client->since + settings_.head_time_limit;  // as long as for its head
  const Id id = next_id_++;
  watch(id, *client, EPOLLIN, true);
  clients_.emplace(id, std::move(client));
}

/// A client that asks for nothing yet gives its place to a new one: nobody keeps others out by
/// holding connections.
bool Reception::make_place_for(const std::string& address) {
  const bool is_proxy =
      std::ranges::find(settings_.trusted_proxies, address) != settings_.trusted_proxies.end();
  const auto place = admission_.place_for(address, is_proxy);
  if (place == Admission::Place::free) return true;
  const std::string busiest =
      place == Admission::Place::address_full ? address : admission_.busiest();
  auto oldest = clients_.end();
  for (auto each = clients_.begin(); each != clients_.end(); ++each) {
    const Client& client = *each->second;
    if (!client.unsent.empty() || client.peer.address != busiest) continue;
    if (oldest == clients_.end() || client.since < oldest->second->since) oldest = each;
  }
  if (oldest == clients_.end()) return false;
  clients_.erase(oldest);
  return true;
}

void Reception::attend_client(Id id, std::uint32_t events) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;  // let go earlier in this round
  Client& client = *found->second;
  if (!client.unsent.empty()) return send_rest(id, client);
  const bool is_gone = (events & EPOLLIN) == 0;
  if (is_gone || client.is_resting) return end(id);
  receive(id, client);
}

void Reception::collect_returned() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
  std::vector<std::unique_ptr<Client>> returned;
  {
    const std::scoped_lock lock(mutex_);
    returned.swap(returned_);
  }
  for (auto& client : returned) settle(std::move(client));
}

/// Takes in a client that was answered: sends the rest of the answer, or waits for its next head.
void Reception::settle(std::unique_ptr<Client> taken) {
  const Id id = next_id_++;
  Client& client = *taken;
  clients_.emplace(id, std::move(taken));
  client.since = Clock::now();
  if (!client.unsent.empty()) {
    client.deadline = client.since + settings_.answer_time_limit;
    return watch(id, client, EPOLLOUT, true);
  }
  client.deadline = client.since + (client.arrived.empty() ? settings_.idle_time_limit
                                                           : settings_.head_time_limit);
  client.scanner = HeadScanner();
  client.scanned = 0;
  watch(id, client, EPOLLIN, true);
  look_at_head(id, client);
}

void Reception::receive(Id id, Client& client) {
  std::array<char, kReadAtOnce> buffer{};
  const ssize_t got = recv(client.connection.socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(id);
  if (client.arrived.empty()) client.deadline = Clock::now() + settings_.head_time_limit;
  client.arrived.append(buffer.data(), static_cast<std::size_t>(got));
  look_at_head(id, client);
}

void Reception::send_rest(Id id, Client& client) {
  const ssize_t sent = send_now(client.connection.socket(), client.unsent);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return end(id);
  if (sent > 0) client.unsent.erase(0, static_cast<std::size_t>(sent));
  if (!client.unsent.empty()) return;
  if (client.is_last) return end(id);
  auto taken = std::move(clients_.at(id));
  clients_.erase(id);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, taken->connection.socket(), nullptr);
  settle(std::move(taken));
}

/// A head that is refused is handed over as well: a worker explains what is wrong with it.
void Reception::look_at_head(Id id, Client& client) {
  const std::string& bytes = client.arrived;
  std::size_t& at = client.scanned;
  while (at < bytes.size() && at < settings_.head_bytes_max && !client.scanner.is_whole()) {
    if (client.scanner.see(bytes[at++]) != HeadScanner::Scan::fine) return pass_on(id, client);
  }
  if (at >= settings_.head_bytes_max && !client.scanner.is_whole()) return pass_on(id, client);
  if (!client.scanner.is_whole()) return;
  const auto head = read_head(std::string_view(bytes).substr(0, at));
  client.origin = origin_of(client.peer, head, settings_.trusted_proxies);
  if (const auto refusal = calls_.refuse(head, client.origin)) {
    return refuse(id, client, *refusal, at, head.has_body);
  }
  pass_on(id, client);
}

void Reception::pass_on(Id id, Client& client) {
  if (client.origin.address.empty()) client.origin = client.peer;
  auto taken = std::move(clients_.at(id));
  clients_.erase(id);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, client.connection.socket(), nullptr);
  if (calls_.serve(taken)) return;
  send_now(client.connection.socket(),
           plain_reply(problem(503, "no thread is left to answer; try again later"),
                       {{"Retry-After", "1"}, {"Connection", "close"}}));
}

void Reception::refuse(Id id, Client& client, const Reply& reply, std::size_t head_bytes,
                       bool has_body) {
  ++refused_;
  has_refused_ = true;
  const bool ends = has_body || --client.requests_left <= 0;
  const auto text = plain_reply(reply, {{"Connection", ends ? "close" : "keep-alive"}});
  const auto sent = send_now(client.connection.socket(), text);
  if (ends || sent != static_cast<ssize_t>(text.size())) return end(id);
  client.arrived.erase(0, head_bytes);
  client.is_resting = true;
  client.since = Clock::now();
  client.deadline = client.since + settings_.rest_time;
  watch(id, client, 0, false);
}

void Reception::expire(Clock::time_point now) {
  std::vector<Id> late;
  for (const auto& [id, client] : clients_) {
    if (client->deadline <= now) late.push_back(id);
  }
  for (const Id id : late) {
    Client& client = *clients_.at(id);
    if (client.is_resting) {
      client.is_resting = false;
      auto taken = std::move(clients_.at(id));
      clients_.erase(id);
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, taken->connection.socket(), nullptr);
      settle(std::move(taken));
      continue;
    }
    if (client.unsent.empty() && !client.arrived.empty()) {
      send_now(client.connection.socket(),
               plain_reply(problem(408, "the request did not arrive in time"),
                           {{"Connection", "close"}}));
    }
    end(id);
  }
  for (auto& acceptor : acceptors_) {
    if (!acceptor.is_resting() || *acceptor.rests_until() > now) continue;
    acceptor.end_rest();
    attend_acceptor(acceptor);
    if (acceptor.is_open()) accept_all(acceptor);
  }
}

void Reception::watch(Id id, const Client& client, std::uint32_t events, bool is_new) const {
  epoll_event event{events, {.u64 = id}};
  epoll_ctl(epoll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, client.connection.socket(),
            &event);
}

/// Says what keeps clients out when that changes, and from time to time how many were refused.
void Reception::tell() {
  std::string problem;
  for (const auto& acceptor : acceptors_) problem = problem.empty() ? acceptor.problem() : problem;
  if (problem != told_ && calls_.note) calls_.note(problem);
  told_ = problem;
  const auto now = Clock::now();
  if (refused_ == 0 || now < tell_refused_at_) return;
  logger_.warning("requests were refused: their senders ask too often", {{"requests", refused_}});
  refused_ = 0;
  tell_refused_at_ = now + kTellRefusedEvery;
}

int Reception::wait_ms() const {
  const auto now = Clock::now();
  auto first = now + std::chrono::minutes(1);
  for (const auto& [id, client] : clients_) first = std::min(first, client->deadline);
  for (const auto& acceptor : acceptors_) {
    if (acceptor.is_resting()) first = std::min(first, *acceptor.rests_until());
  }
  const auto left = std::chrono::ceil<milliseconds>(first - now);
  return static_cast<int>(std::max(left, milliseconds{0}).count());
}

}  // namespace torchwatch::http
