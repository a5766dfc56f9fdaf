#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"

namespace torchwatch::http {

/// A token that may change something only once.
struct OneUse {
  std::string id;                 ///< the same whenever the same token comes
  std::int64_t expires_at_s = 0;  ///< since the epoch; 0: it may not change anything any more
};

/// Whose a token is.
struct Identity {
  std::int64_t token = 0;
  Scopes scopes;
  std::string name{};            ///< the token's
  std::optional<OneUse> once{};  ///< nothing: it may change things as often as it likes
  std::string form_key{};        ///< of a browser that is signed in; see SignedIn
};

/// Who knows the tokens. All are called from several threads.
struct TokenHolder {
  /// Returns whose token hashes to that (see hash_token); nothing for an unknown one. Must not
  /// block.
  std::function<std::optional<Identity>(const std::string& sha256)> find{};
  std::function<void(const Identity&)> used{};  ///< after a request was let in with the token
  /// The same by the token itself, where its signature says whose it is; asked after `find`. Must
  /// not block.
  std::function<std::optional<Identity>(const std::string& token)> find_signed{};
  /// Returns whether a token with `once` may change something now; asked once for each change.
  std::function<bool(const Identity&)> spend{};
  /// Returns with whose token the browser is signed in that sends such a request. Must not block.
  std::function<std::optional<Identity>(const Request&)> find_signed_in{};
};

struct ServerSettings {
  std::string address = "127.0.0.1";
  int port = 0;                    ///< 0: any free one
  std::vector<std::string> hosts;  ///< allowed in Host besides the address and localhost
  std::filesystem::path socket;    ///< a Unix socket to listen on as well; empty: none
  TokenHolder tokens{};            ///< without it only the Unix socket may write
  bool local_may_read = true;      ///< without a token, from this machine and through no proxy
  bool others_may_read = false;    ///< without a token
  std::vector<std::string> cors_origins;     ///< pages of these may read
  std::vector<std::string> trusted_proxies;  ///< addresses whose X-Forwarded-For is believed
  double requests_per_second = 10;           ///< of an address without a token, on average
  /// Gets what keeps clients out, in a sentence, and "" once nothing does. Called from the
  /// server's threads; must not block.
  std::function<void(const std::string&)> note{};
  /// Makes a page of a problem for a browser that asked for that path and query; nothing where a
  /// program asks. Called from the server's threads.
  std::function<std::optional<Reply>(const Reply& problem, const std::string& target)> page_of{};
  /// Why nothing is served: every request gets 503 with that sentence. Empty: the routes answer.
  std::string closed{};
  std::size_t head_bytes_max = 16U << 10U;
  std::size_t body_bytes_max = 1U << 20U;
  std::chrono::milliseconds head_time_limit{5'000};
  std::chrono::milliseconds body_time_limit{10'000};
  std::chrono::milliseconds answer_time_limit{10'000};  ///< for sending one answer
  std::chrono::milliseconds idle_time_limit{2'000};     ///< between requests of a connection
  std::chrono::milliseconds rest_time{1'000};           ///< of a connection after a 429
  int requests_per_connection_max = 100;
  int connections_max = 256;
  int connections_per_address_max = 64;
  int threads = 16;
};

/// Serves routes over HTTP behind limits of size and time: loopback by default, Host list, bearer
/// tokens with scopes, problem+json, ETag and gzip, cookies on pages alone, CORS only where it is
/// set. On the Unix socket the rights of its file (0660) decide who may connect; who does needs no
/// token and no known Host. Logs each request, and what a client must not see of an error.
/// Thread-safe.
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

/// Returns the hex SHA-256 of a bearer token, by which it is known.
std::string hash_token(const std::string& token);

/// Makes a new bearer token: "tw_" and 256 random bits in hex. `random` must be the kernel's.
std::string make_token(platform::Random& random);

}  // namespace torchwatch::http
