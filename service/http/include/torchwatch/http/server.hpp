#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::http {

struct ServerSettings {
  std::string address = "127.0.0.1";
  int port = 0;                    ///< 0: any free one
  std::vector<std::string> hosts;  ///< allowed in Host besides the address and localhost
  std::filesystem::path socket;    ///< a Unix socket to listen on as well; empty: none
  std::string token_sha256;        ///< see hash_token; empty: routes that need a token are closed
  std::vector<std::string> trusted_proxies;  ///< addresses whose X-Forwarded-For is believed
  double requests_per_second = 10;           ///< of an address without a token, on average
  /// Is told what keeps clients out, in a sentence, and "" once nothing does. Called from the
  /// server's threads; must not block.
  std::function<void(const std::string&)> note{};
  std::size_t head_bytes_max = 16U << 10U;
  std::size_t body_bytes_max = 1U << 20U;
  std::chrono::milliseconds head_time_limit{5'000};
  std::chrono::milliseconds body_time_limit{10'000};
  std::chrono::milliseconds answer_time_limit{10'000};  ///< for sending one answer
  std::chrono::milliseconds idle_time_limit{2'000};     ///< between requests of a connection
  std::chrono::milliseconds rest_time{1'000};       ///< of a connection after a 429
  int requests_per_connection_max = 100;
  int connections_max = 256;
  int connections_per_address_max = 64;
  int threads = 16;
};

/// Serves routes over HTTP behind limits of size and time: loopback by default, Host list, bearer
/// token, problem+json, no cookie, no CORS. On the Unix socket the rights of its file (0660) decide
/// who may connect; who does needs no token and no known Host. Logs each request, and what a client
/// must not see of an error. Thread-safe.
class Server {
 public:
  /// Binds and begins to serve; a Unix socket that a dead process left is replaced. `clock` must
  /// outlive the server. Errors: conflict (port taken, another process on the Unix socket), invalid
  /// (address, Unix socket), not_found (the folder of the Unix socket).
  static Result<std::unique_ptr<Server>> start(ServerSettings, std::vector<Route> routes,
                                               const platform::Clock& clock, log::Logger = {});
  ~Server();  ///< stops, joins and removes the Unix socket
  int port() const;
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// Returns the hex SHA-256 of a bearer token, for `token_sha256`.
std::string hash_token(const std::string& token);

}  // namespace torchwatch::http
