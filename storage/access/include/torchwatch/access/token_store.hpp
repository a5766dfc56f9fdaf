#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/records/scope.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A bearer token of the HTTP API, of which only the hash is known.
struct TokenRow {
  Id id = 0;
  std::string name;    ///< for people; of one token at a time
  std::string sha256;  ///< in hex
  Scopes scopes;
  WallMillis made_at = 0;
  std::optional<WallMillis> used_at;  ///< about when it was used last
  std::optional<WallMillis> revoked_at;
  // to_string of who asked for it; empty where it is not known.
  std::string made_by;
  std::string revoked_by;
};

/// Bearer tokens. A token that was revoked stays, so that a list says what there was. Thread-safe
/// as Database is.
class TokenStore {
 public:
  explicit TokenStore(Database& database) : database_(database) {}

  /// Stores a token. Errors: conflict (another one has the name).
  Result<TokenRow> add(const std::string& name, const std::string& sha256, const Scopes&,
                       WallMillis now, const Asker& made_by);
  Result<std::vector<TokenRow>> list();  ///< the newest first
  Result<TokenRow> get(Id);
  /// Ends a token for good. Errors: not_found, conflict (it is revoked already).
  Result<TokenRow> revoke(Id, WallMillis now, const Asker& revoked_by);
  Status note_use(Id, WallMillis now);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
