#include "invariants.hpp"

#include <sqlite3.h>

#include "embedded_sql.hpp"
#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

constexpr int kRowsShown = 5;

/// Returns the first column of the first rows, empty when there are no rows.
std::string first_rows(Query query) {
  std::string text;
  int shown = 0;
  for (; shown < kRowsShown && query.next(); ++shown) {
    text += (shown == 0 ? "" : "; ") + query.take<std::string>();
  }
  if (shown == kRowsShown && query.next()) text += "; ...";
  return text;
}

void add_breach(std::vector<InvariantBreach>& breaches, std::string_view name, std::string rows) {
  if (!rows.empty()) breaches.push_back({std::string(name), std::move(rows)});
}

std::string dangling_references(Connection& connection) {
  return first_rows(
      Query(connection,
            "SELECT \"table\" || ' row ' || ifnull(rowid, '?') || ' names a missing ' "
            "|| parent FROM pragma_foreign_key_check"));
}

/// Opens a file so that its CHECKs can be checked: SQLite has none of a file that it opened for
/// reading alone. Nothing is written, not even at the end what still lies in the log.
SQLite::Database opened_with_checks(const std::filesystem::path& path, const std::string& vfs) {
  SQLite::Database opened(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs, vfs);
  opened.exec("PRAGMA query_only = ON");
  sqlite3_db_config(opened.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return opened;
}

std::string damage_of(const std::filesystem::path& path, const std::string& vfs,
                      const std::stop_token& stop) {
  auto opened = opened_with_checks(path, vfs);
  const std::stop_callback interrupt(stop, [&] { sqlite3_interrupt(opened.getHandle()); });
  SQLite::Statement found(opened, "PRAGMA integrity_check(" + std::to_string(kRowsShown) + ")");
  std::string text;
  while (found.executeStep()) text += (text.empty() ? "" : "; ") + found.getColumn(0).getString();
  return text == "ok" ? "" : text;
}

}  // namespace

Result<std::vector<InvariantBreach>> broken_invariants(Connection& connection,
                                                       std::stop_token stop) {
  const std::stop_callback interrupt(stop,
                                     [&] { sqlite3_interrupt(connection.sqlite.getHandle()); });
  std::vector<InvariantBreach> breaches;
  for (const auto& invariant : embedded_invariants()) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the check was broken off");
    add_breach(breaches, invariant.name, first_rows(Query(connection, std::string(invariant.sql))));
  }
  // They say less than the rules above do of what both find.
  add_breach(breaches, "foreign_key_check", dangling_references(connection));
  add_breach(breaches, "integrity_check", damage_of(connection.path, connection.vfs, stop));
  return breaches;
}

Result<std::vector<InvariantBreach>> Database::check_invariants(std::stop_token stop) {
  return read(*this, [&](Connection& connection) { return broken_invariants(connection, stop); });
}

}  // namespace torchwatch::storage
