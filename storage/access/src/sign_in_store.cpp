#include "torchwatch/access/sign_in_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

/// A team that shares a token fits; what a script leaves behind does not grow without end.
constexpr int kOfTokenMax = 100;

SignInRow row_of(Query& row) {
  return SignInRow{.sha256 = row.take<std::string>(),
                   .token_sha256 = row.take<std::string>(),
                   .made_at = row.take<WallMillis>(),
                   .ends_at = row.take<WallMillis>()};
}

}  // namespace

Status SignInStore::add(const SignInRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "DELETE FROM sign_in WHERE ends_at <= ?", row.made_at);
    execute(connection,
            "INSERT INTO sign_in (sha256, token_sha256, made_at, ends_at) VALUES (?, ?, ?, ?)",
            row.sha256, row.token_sha256, row.made_at, row.ends_at);
    execute(connection,
            "DELETE FROM sign_in WHERE token_sha256 = ?1 AND sha256 NOT IN (SELECT sha256 FROM "
            "sign_in WHERE token_sha256 = ?1 ORDER BY sha256 = ?2 DESC, made_at DESC LIMIT ?3)",
            row.token_sha256, row.sha256, kOfTokenMax);
    return {};
  });
}

Result<std::vector<SignInRow>> SignInStore::list(WallMillis now) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT sha256, token_sha256, made_at, ends_at FROM sign_in "
                          "WHERE ends_at > ? ORDER BY made_at DESC, sha256",
                          now),
                    row_of);
  });
}

Status SignInStore::end(const std::string& sha256) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "DELETE FROM sign_in WHERE sha256 = ?", sha256);
    return {};
  });
}

}  // namespace torchwatch::storage
