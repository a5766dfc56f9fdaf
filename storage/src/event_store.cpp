#include "torchwatch/storage/event_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

EventRow row_of(Query& row) {
  return EventRow{.id = row.take<Id>(),
                  .kind = row.take<std::string>(),
                  .item = row.take<std::string>(),
                  .state = row.take<std::string>()};
}

/// The row of an aggregate: NULL where there is no event.
Id id_of(Query& row) {
  return row.take<std::optional<Id>>().value_or(0);
}

}  // namespace

Result<KeptEvents> EventStore::kept() {
  return read(database_, [](Connection& connection) -> Result<KeptEvents> {
    TW_TRY(const auto oldest, first_row(Query(connection, "SELECT min(id) FROM event"), id_of));
    TW_TRY(const auto newest, first_row(Query(connection, "SELECT max(id) FROM event"), id_of));
    return KeptEvents{oldest.value_or(0), newest.value_or(0)};
  });
}

Result<std::vector<EventRow>> EventStore::after(Id event, int limit) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection,
              "SELECT id, kind, item, state FROM event WHERE id > ? ORDER BY id LIMIT ?", event,
              limit),
        row_of);
  });
}

}  // namespace torchwatch::storage
