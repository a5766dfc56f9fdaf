#include "reception.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
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

#include "torchwatch/records/asker.hpp"

namespace torchwatch::http {
namespace {

using std::chrono::milliseconds;

constexpr WaitingClients::Id kWakeId = WaitingClients::kFirstId - 1;
constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::seconds kTellRefusedEvery{10};
/// Under a flood many events are then attended in one round, which costs as much as one.
constexpr milliseconds kPauseAfterRefusal{10};

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
  return Origin{.address = name_of_user(peer.uid), .is_local = true, .user = peer.uid};
}

}  // namespace

Reception::Reception(const ServerSettings& settings, Admissions& admissions, Calls calls,
                     Accept accept, log::Logger logger)
    : settings_(settings),
      calls_(std::move(calls)),
      accept_(std::move(accept)),
      logger_(std::move(logger)),
      clients_(
          settings_, admissions, epoll_,
          [this](const Head& head, const Origin& origin) { return refusal_of(head, origin); },
          calls_.serve) {}

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
  const std::scoped_lock lock(mutex_);
  is_over_ = true;
  returned_.clear();
}

void Reception::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
}

void Reception::take_back(std::unique_ptr<Client> client) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return;  // its connection ends: nobody waits for its next request
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
      clients_.attend(event.data.u64, event.events);
    }
  }
  const auto now = Clock::now();
  clients_.expire(now);
  end_rests(now);
  tell();
}

/// Waits at an acceptor, or opens it anew after its rest.
void Reception::attend_acceptor(Acceptor& acceptor) {
  if (!acceptor.is_open()) {
    if (const auto opened = acceptor.open(); !opened) {
      return acceptor.rest(AcceptError::broken, opened.error().text(), Clock::now());
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
      clients_.admit(socket, acceptor.is_on_port() ? peer_at_port(peer) : peer_at_socket(socket));
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

void Reception::collect_returned() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
  std::vector<std::unique_ptr<Client>> returned;
  {
    const std::scoped_lock lock(mutex_);
    returned.swap(returned_);
  }
  for (auto& client : returned) clients_.settle(std::move(client));
}

void Reception::end_rests(Clock::time_point now) {
  for (auto& acceptor : acceptors_) {
    if (!acceptor.is_resting() || *acceptor.rests_until() > now) continue;
    acceptor.end_rest();
    attend_acceptor(acceptor);
    if (acceptor.is_open()) accept_all(acceptor);
  }
}

/// Counts what is refused, on its way to the client.
std::optional<Reply> Reception::refusal_of(const Head& head, const Origin& origin) {
  if (!calls_.refuse) return std::nullopt;
  auto refusal = calls_.refuse(head, origin);
  if (refusal) {
    ++refused_;
    has_refused_ = true;
  }
  return refusal;
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
  auto first = std::min(clients_.next_deadline(), now + std::chrono::minutes(1));
  for (const auto& acceptor : acceptors_) {
    if (acceptor.is_resting()) first = std::min(first, *acceptor.rests_until());
  }
  const auto left = std::chrono::ceil<milliseconds>(first - now);
  return static_cast<int>(std::max(left, milliseconds{0}).count());
}

}  // namespace torchwatch::http
