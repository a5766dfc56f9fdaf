#pragma once

#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A browser that is signed in with a token. The hashes are in hex.
struct SignInRow {
  std::string sha256;        ///< of the random id in its cookie
  std::string token_sha256;  ///< of the token
  WallMillis made_at = 0;
  WallMillis ends_at = 0;  ///< at most 12 hours after it was made
};

/// Who is signed in on the pages. A token that is revoked takes its sign-ins with it. Thread-safe
/// as Database is.
class SignInStore {
 public:
  explicit SignInStore(Database& database) : database_(database) {}

  /// Stores one, and forgets those that have ended by then, and all but the newest of its token.
  Status add(const SignInRow&);
  /// Returns those that have not ended, the newest first.
  Result<std::vector<SignInRow>> list(WallMillis now);
  /// Ends one; nothing happens where there is none.
  Status end(const std::string& sha256);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
