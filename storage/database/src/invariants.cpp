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

}  // namespace

Result<std::vector<InvariantBreach>> broken_invariants(Connection& connection,
                                                       std::stop_token stop) {
  const std::stop_callback interrupt(stop,
                                     [&] { sqlite3_interrupt(connection.sqlite.getHandle()); });
  std::vector<InvariantBreach> breaches;
  auto integrity = first_rows(Query(connection, "PRAGMA integrity_check(10)"));
  if (integrity != "ok") add_breach(breaches, "integrity_check", std::move(integrity));
  add_breach(breaches, "foreign_key_check", dangling_references(connection));
  for (const auto& invariant : embedded_invariants()) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the check was broken off");
    add_breach(breaches, invariant.name, first_rows(Query(connection, std::string(invariant.sql))));
  }
  return breaches;
}

Result<std::vector<InvariantBreach>> Database::check_invariants(std::stop_token stop) {
  return read(*this, [&](Connection& connection) { return broken_invariants(connection, stop); });
}

}  // namespace torchwatch::storage
