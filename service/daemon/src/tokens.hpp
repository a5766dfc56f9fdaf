#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::daemon {

/// The bearer tokens that are accepted: those of the database and that of [web] token_file. Kept in
/// memory, because a flood of wrong ones must not reach the database. Thread-safe.
class Tokens {
 public:
  /// Reads them. Errors: those of the token file; invalid (its token is too short); those of
  /// storage.
  static Result<std::unique_ptr<Tokens>> open(Application&);

  /// Returns whose token hashes to that; nothing for an unknown or revoked one.
  std::optional<http::Identity> find(const std::string& sha256) const;
  /// Reads those of the database again.
  Status reload();
  /// Notes the time at which a token was used, about once a minute.
  void note_use(const http::Identity&);

 private:
  explicit Tokens(Application& application) : application_(application) {}

  Application& application_;
  std::string sha256_of_file_;
  mutable std::mutex mutex_;
  /// By hash. Looking it up takes no constant time, which tells nobody anything: who sends a token
  /// cannot choose what it hashes to.
  std::map<std::string, http::Identity> known_;
  std::map<std::int64_t, std::chrono::nanoseconds> noted_at_;
};

}  // namespace torchwatch::daemon
