#pragma once

#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "torchwatch/platform/unix_socket.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::http {

/// Makes a TCP socket that listens; port 0 takes any free one. Errors: conflict (the port is
/// taken), invalid (no address of this machine, a port that may not be used), unavailable.
Result<UniqueFd> listen_on(const std::string& address, int port);

/// Returns the port that a socket listens on.
int port_of(int socket);

/// What an error of accept() says.
enum class AcceptError {
  nobody_waits,
  client_gone,  ///< or its packets are refused: it concerns this client alone
  used_up,      ///< descriptors or memory: may pass
  broken,       ///< the socket itself
};
AcceptError accept_error_of(int error_number);

/// accept4(2), or what a test puts in its place.
using Accept = std::function<int(int socket, sockaddr* peer, socklen_t* size, int flags)>;

/// A socket that listens, on a port or on a Unix socket. After an error it rests for a while; if
/// the socket itself is broken, it is opened anew then. Not thread-safe.
class Acceptor {
 public:
  using Clock = std::chrono::steady_clock;

  static Acceptor on_port(std::string address, int port);
  static Acceptor on_socket(std::filesystem::path);

  /// Opens, or opens anew. Errors: those of listen_on and of ListeningSocket.
  Status open();
  bool is_open() const { return socket() >= 0; }
  int socket() const;
  bool is_on_port() const { return path_.empty(); }

  /// Waits after an error, longer each time; a broken one is closed.
  void rest(AcceptError, const std::string& reason, Clock::time_point now);
  bool is_resting() const { return rests_until_.has_value(); }
  std::optional<Clock::time_point> rests_until() const { return rests_until_; }
  void end_rest() { rests_until_.reset(); }
  /// Forgets earlier errors: a client came in.
  void works();
  /// Returns what keeps clients out; "" if nothing does.
  const std::string& problem() const { return problem_; }

 private:
  std::string name() const;

  std::string address_;
  int port_ = 0;
  std::filesystem::path path_;
  UniqueFd tcp_;
  std::optional<platform::ListeningSocket> unix_;
  std::optional<Clock::time_point> rests_until_;
  std::chrono::milliseconds pause_{0};
  std::string problem_;
};

}  // namespace torchwatch::http
