#include "torchwatch/access/audit_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

AuditRow row_of(Query& row) {
  return AuditRow{.id = row.take<Id>(),
                  .path = row.take<std::string>(),
                  .item = row.take<std::string>(),
                  .asked_by = row.take<std::string>(),
                  .asked_at = row.take<WallMillis>()};
}

}  // namespace

Status AuditStore::add(const AuditRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "INSERT INTO audit (path, item, asked_by, asked_at) VALUES (?, ?, ?, ?)",
            row.path, row.item, row.asked_by, row.asked_at);
    return {};
  });
}

Result<std::vector<AuditRow>> AuditStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT id, path, item, asked_by, asked_at FROM audit WHERE id < ? "
                          "ORDER BY id DESC LIMIT ?",
                          before, limit),
                    row_of);
  });
}

}  // namespace torchwatch::storage
