#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/health/report.hpp"

namespace torchwatch::control {

/// The daemon that holds a configuration's database, reached over its Unix socket.
class ControlClient {
 public:
  /// Returns nothing if no daemon runs. Errors: unavailable (no permission; the socket of a daemon
  /// that runs was removed).
  static Result<std::optional<ControlClient>> find(const config::Config&);

  /// Sends a POST with that body and returns the answer's object. Errors: the daemon's, with the
  /// code and the message that the command has without a daemon; unavailable.
  Result<nlohmann::json> post(const std::string& path, const nlohmann::json& body) const;

  /// Asks what does not work and what is done at present. Errors: unavailable, corrupt.
  Result<health::Report> service_now() const;

  pid_t process() const { return process_; }

 private:
  ControlClient(std::filesystem::path socket, pid_t process)
      : socket_(std::move(socket)), process_(process) {}

  std::filesystem::path socket_;
  pid_t process_;
};

/// Returns the process of a daemon that works on the database; empty where another command does, or
/// nobody.
std::string daemon_that_writes(const config::Config&);

}  // namespace torchwatch::control
