#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/doors/clock.hpp"
#include "torchwatch/doors/random.hpp"
#include "torchwatch/storage/database.hpp"

namespace torchwatch::web {

struct ServerSettings {
  std::string address = "127.0.0.1";
  int port = 0;                    ///< 0: any free one
  std::vector<std::string> hosts;  ///< allowed in Host beside the address and localhost
  std::string token_sha256;        ///< hex; empty: nothing can be written
  std::size_t head_bytes_max = 16U << 10U;
  std::size_t body_bytes_max = 1U << 20U;
  std::chrono::milliseconds head_time_limit{5'000};
  std::chrono::milliseconds body_time_limit{10'000};
  std::chrono::milliseconds answer_time_limit{10'000};  ///< for sending one answer
  std::chrono::milliseconds idle_time_limit{2'000};     ///< between requests of a connection
  int requests_per_connection_max = 100;
  int connections_max = 256;
  int connections_per_address_max = 64;
  int threads_max = 16;
};

/// What the API needs from the rest of the daemon.
struct Backend {
  storage::Database& database;
  const doors::Clock& clock;
  doors::Random& random;
  std::function<void()> request_arrived;        ///< wakes the daemon; must not block
  std::function<std::string()> health_problem;  ///< empty: healthy; else a sentence for /healthz
  /// Gets what a client must not see of an error (may be empty). Called from any thread.
  std::function<void(const std::string&)> log = {};
};

/// The HTTP API of architecture.md section 4 behind the guards of reliability.md 4.1: limits of
/// size and time, loopback by default, Host list, problem+json, no cookie, no CORS.
class Server {
 public:
  /// Binds. Errors: conflict (port taken), invalid (address).
  static Result<std::unique_ptr<Server>> start(ServerSettings, Backend);
  ~Server();  ///< stops and joins
  int port() const;
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// Hex SHA-256 of a bearer token, as `token_sha256` wants it.
std::string hash_token(const std::string& token);

}  // namespace torchwatch::web
