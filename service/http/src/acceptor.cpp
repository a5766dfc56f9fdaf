#include "acceptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace torchwatch::http {
namespace {

using std::chrono::milliseconds;

constexpr int kWaitingMax = 512;
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{30'000};

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// Makes the socket's address; nothing if the text is not an address.
SocketAddress address_of(const std::string& text, int port) {
  SocketAddress made;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&made.bytes);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&made.bytes);
  const std::string address = text == "localhost" ? "127.0.0.1" : text;
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    made.size = sizeof *v4;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    made.size = sizeof *v6;
  }
  return made;
}

Error error_of(const std::string& where) {
  const std::string begin = "cannot listen on " + where + ": ";
  switch (errno) {
    case EADDRINUSE:
      return {ErrorCode::conflict, begin + "the port is taken (is another daemon running?)",
              "stop that one, or set [web] port"};
    case EADDRNOTAVAIL:
    case EACCES:
      return {ErrorCode::invalid, begin + std::strerror(errno)};
    default:
      return {ErrorCode::unavailable, begin + std::strerror(errno)};
  }
}

}  // namespace

Result<UniqueFd> listen_on(const std::string& address, int port) {
  const auto made = address_of(address, port);
  if (made.size == 0) {
    return fail(ErrorCode::invalid, "[web] address: invalid address \"" + address +
                                        "\": must be an IP address of this machine, such as "
                                        "127.0.0.1");
  }
  const int on = 1;
  // TCP_NODELAY is set once: every connection that is accepted inherits it.
  UniqueFd socket(
      ::socket(made.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  // No SO_REUSEPORT: with it a second daemon would silently take half the connections.
  const bool is_listening =
      socket.is_open() && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&made.bytes), made.size) == 0 &&
      listen(socket.get(), kWaitingMax) == 0;
  if (!is_listening) return fail(error_of(address + ":" + std::to_string(port)));
  return socket;
}

int port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

AcceptError accept_error_of(int error_number) {
  switch (error_number) {
    case EAGAIN:
      return AcceptError::nobody_waits;
    // accept(2) passes on the errors that wait at the new connection, and a firewall's refusal.
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case EOPNOTSUPP:
    case EPERM:
    case ETIMEDOUT:
      return AcceptError::client_gone;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return AcceptError::used_up;
    default:
      return AcceptError::broken;
  }
}

Acceptor Acceptor::on_port(std::string address, int port) {
  Acceptor acceptor;
  acceptor.address_ = std::move(address);
  acceptor.port_ = port;
  return acceptor;
}

Acceptor Acceptor::on_socket(std::filesystem::path path) {
  Acceptor acceptor;
  acceptor.path_ = std::move(path);
  return acceptor;
}

Status Acceptor::open() {
  if (is_on_port()) {
    TW_TRY(tcp_, listen_on(address_, port_));
    port_ = port_of(tcp_.get());
    return {};
  }
  unix_.reset();
  TW_TRY(auto opened, platform::ListeningSocket::open(path_));
  unix_.emplace(std::move(opened));
  fcntl(unix_->get(), F_SETFL, O_NONBLOCK);
  return {};
}

int Acceptor::socket() const {
  if (is_on_port()) return tcp_.get();
  return unix_ ? unix_->get() : -1;
}

std::string Acceptor::name() const {
  return is_on_port() ? "port " + std::to_string(port_) : "socket " + path_.string();
}

void Acceptor::rest(AcceptError error, const std::string& reason, Clock::time_point now) {
  if (error == AcceptError::broken) {
    tcp_.reset();
    unix_.reset();
  }
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  rests_until_ = now + pause_;
  problem_ = "no connection can be accepted on " + name() + ": " + reason;
}

void Acceptor::works() {
  pause_ = milliseconds{0};
  problem_.clear();
}

}  // namespace torchwatch::http
