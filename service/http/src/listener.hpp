#pragma once

#include <string>

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

}  // namespace torchwatch::http
