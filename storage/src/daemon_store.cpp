#include "torchwatch/storage/daemon_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

DaemonTimes times_of(Query& row) {
  return DaemonTimes{.started_at = row.take<WallMillis>(),
                     .stopped_at = row.take<std::optional<WallMillis>>()};
}

}  // namespace

Status DaemonStore::note_start(WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "INSERT INTO daemon (only_row, started_at) VALUES (1, ?) ON CONFLICT (only_row) "
            "DO UPDATE SET started_at = excluded.started_at, stopped_at = NULL",
            now);
    return {};
  });
}

Status DaemonStore::note_stop(WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE daemon SET stopped_at = ? WHERE only_row = 1", now);
    return {};
  });
}

Result<std::optional<DaemonTimes>> DaemonStore::last() {
  return read(database_, [](Connection& connection) {
    return first_row(
        Query(connection, "SELECT started_at, stopped_at FROM daemon WHERE only_row = 1"),
        times_of);
  });
}

}  // namespace torchwatch::storage
