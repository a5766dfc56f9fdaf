#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"

namespace torchwatch::signin {

/// What sign-ins are made with. What it refers to must outlive them.
struct Parts {
  storage::Database& database;
  const platform::Clock& clock;
  platform::Random& random;  ///< the kernel's
  /// Returns whose token hashes to that, as http::TokenHolder::find does.
  std::function<std::optional<http::Identity>(const std::string& sha256)> find_token;
  std::string public_address = {};  ///< [web] public_address; may be empty
};

/// Who is signed in on the pages, in memory as well: a flood of wrong cookies must not reach the
/// database. Thread-safe.
class SignIns {
 public:
  static constexpr std::chrono::hours kLasts{12};

  /// Reads those that have not ended. Errors: of storage.
  static Result<std::unique_ptr<SignIns>> open(Parts);

  /// Returns with whose token the browser is signed in; nothing if it is not, or not any more.
  std::optional<http::Identity> find(const http::Request&) const;

  /// Signs the browser in with a new id, which ends its earlier sign-in; returns the value of
  /// Set-Cookie. Errors: not_found (there is no such token), those of storage.
  Result<std::string> begin(const http::Request&, const std::string& token);

  /// Signs the browser out; returns the value of Set-Cookie. Errors: of storage; it is signed out
  /// until the next start even then.
  Result<std::string> end(const http::Request&);

  /// Returns whether a page of this service sent the request; see own_origin.hpp.
  bool is_own_origin(const http::Request&) const;

  /// Keeps a text for the next time that the browser asks for the page at `path`.
  void leave_note(const http::Request&, const std::string& path, const std::string& text);
  /// Returns the text that was left for this browser and the request's path, once.
  std::string take_note(const http::Request&);

 private:
  struct SignIn {
    std::string token_sha256;
    platform::WallMillis ends_at = 0;
    std::chrono::nanoseconds until{0};  ///< monotonic: no clock that is set back prolongs it
    std::string note_path{};
    std::string note{};
  };

  explicit SignIns(Parts parts) : parts_(std::move(parts)) {}
  Status reload();
  std::string id_of(const http::Request&) const;
  void forget_ended();

  const Parts parts_;
  mutable std::mutex mutex_;
  std::map<std::string, SignIn> known_;  ///< by the hash of the id
};

}  // namespace torchwatch::signin
