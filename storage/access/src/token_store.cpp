#include "torchwatch/access/token_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, name, sha256, scopes, made_at, used_at, revoked_at, made_by, revoked_by FROM "
    "token ";

/// A row whose scopes are not known allows nothing: a newer program may have written it.
TokenRow row_of(Query& row) {
  TokenRow token;
  token.id = row.take<Id>();
  token.name = row.take<std::string>();
  token.sha256 = row.take<std::string>();
  token.scopes = parse_scopes(row.take<std::string>()).value_or(Scopes{});
  token.made_at = row.take<WallMillis>();
  token.used_at = row.take<std::optional<std::int64_t>>();
  token.revoked_at = row.take<std::optional<std::int64_t>>();
  token.made_by = row.take<std::string>();
  token.revoked_by = row.take<std::string>();
  return token;
}

Result<TokenRow> token_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                 "token " + std::to_string(id));
}

}  // namespace

Result<TokenRow> TokenStore::add(const std::string& name, const std::string& sha256,
                                 const Scopes& scopes, WallMillis now, const Asker& made_by) {
  return write(database_, [&](Connection& connection) -> Result<TokenRow> {
    const int added =
        execute(connection,
                "INSERT INTO token (name, sha256, scopes, made_at, made_by) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING",
                name, sha256, to_string(scopes), now, to_string(made_by));
    if (added == 1) return token_of(connection, connection.sqlite.getLastInsertRowid());
    return fail(ErrorCode::conflict, "another token is named \"" + name + "\"",
                "revoke it, or choose another name");
  });
}

Result<std::vector<TokenRow>> TokenStore::list() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kSelect + "ORDER BY id DESC"), row_of);
  });
}

Result<TokenRow> TokenStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return token_of(connection, id); });
}

Result<TokenRow> TokenStore::revoke(Id id, WallMillis now, const Asker& revoked_by) {
  return write(database_, [&](Connection& connection) -> Result<TokenRow> {
    const int changed = execute(
        connection,
        "UPDATE token SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL", now,
        to_string(revoked_by), id);
    TW_TRY(auto row, token_of(connection, id));
    if (changed == 1) return row;
    return fail(ErrorCode::conflict, "token " + std::to_string(id) + " is revoked already");
  });
}

Status TokenStore::note_use(Id id, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE token SET used_at = ? WHERE id = ?", now, id);
    return {};
  });
}

}  // namespace torchwatch::storage
