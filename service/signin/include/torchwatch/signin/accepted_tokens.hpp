#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::signin {

/// Reads the token of [web] token_file. Errors: those of secrets::read_secret; invalid (too short).
Result<std::string> token_of_file(const std::filesystem::path&);

/// The bearer tokens that are accepted: those of the database and that of [web] token_file. Kept in
/// memory, because a flood of wrong ones must not reach the database. Thread-safe.
class AcceptedTokens {
 public:
  /// Reads them; an empty path names no file. What is passed by reference must outlive the tokens;
  /// the log hides that of the file. Errors: those of token_of_file and of storage.
  static Result<std::unique_ptr<AcceptedTokens>> open(storage::Database&, const platform::Clock&,
                                                      log::Log&, const std::filesystem::path& file);

  /// Returns whose token hashes to that; nothing for an unknown or revoked one.
  std::optional<http::Identity> find(const std::string& sha256) const;
  /// Reads those of the database again.
  Status reload();
  /// Notes the time at which a token was used, about once a minute.
  void note_use(const http::Identity&);

 private:
  AcceptedTokens(storage::Database& database, const platform::Clock& clock, log::Logger logger)
      : database_(database), clock_(clock), logger_(std::move(logger)) {}

  storage::Database& database_;
  const platform::Clock& clock_;
  const log::Logger logger_;
  std::string sha256_of_file_;
  mutable std::mutex mutex_;
  /// By hash. Looking it up takes no constant time, which tells nobody anything: who sends a token
  /// cannot choose what it hashes to.
  std::map<std::string, http::Identity> known_;
  std::map<std::int64_t, std::chrono::nanoseconds> noted_at_;
};

}  // namespace torchwatch::signin
