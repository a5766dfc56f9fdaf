#include "torchwatch/tracker/received_store.hpp"

#include "query.hpp"
#include "received_words.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, delivery, kind, action, issue, body_json, state, result, tries, setbacks, "
    "not_before, error, received_at FROM received ";

ReceivedRow row_of(Query& row) {
  return ReceivedRow{.id = row.take<Id>(),
                     .delivery = row.take<std::string>(),
                     .kind = row.take<ReceivedKind>(),
                     .action = row.take<std::string>(),
                     .issue = row.take<std::int64_t>(),
                     .body_json = row.take<std::string>(),
                     .state = row.take<ReceivedState>(),
                     .result = row.take<std::string>(),
                     .tries = row.take<int>(),
                     .setbacks = row.take<int>(),
                     .not_before = row.take<WallMillis>(),
                     .error = row.take<std::string>(),
                     .received_at = row.take<WallMillis>()};
}

}  // namespace

std::string_view to_string(ReceivedKind value) {
  return spelling(value);
}
std::string_view to_string(ReceivedState value) {
  return spelling(value);
}

Result<bool> ReceivedStore::receive(const ReceivedRow& row) {
  return write(database_, [&](Connection& connection) -> Result<bool> {
    return execute(connection,
                   "INSERT INTO received (delivery, kind, action, issue, body_json, state, "
                   "received_at) VALUES (?, ?, ?, ?, ?, 'pending', ?) "
                   "ON CONFLICT (delivery) DO NOTHING",
                   row.delivery, row.kind, row.action, row.issue, row.body_json,
                   row.received_at) == 1;
  });
}

Result<std::vector<ReceivedRow>> ReceivedStore::pending() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kSelect + "WHERE state = 'pending' ORDER BY id"), row_of);
  });
}

Result<ReceivedRow> ReceivedStore::get(Id id) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                   "received item " + std::to_string(id));
  });
}

Status ReceivedStore::end(Id id, ReceivedState state, const std::string& result) {
  return write(database_, [&](Connection& connection) -> Status {
    // What was said is kept by the tracker; the delivery alone is needed, to know it again.
    execute(connection,
            "UPDATE received SET state = ?, result = ?, body_json = '', error = '', "
            "under_way = 0 WHERE id = ? AND state = 'pending'",
            state, result, id);
    return {};
  });
}

Status ReceivedStore::begin(Id id) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE received SET under_way = 1 WHERE id = ?", id);
    return {};
  });
}

Status ReceivedStore::put_off(const ReceivedRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "UPDATE received SET tries = ?, setbacks = ?, not_before = ?, error = ?, under_way = 0 "
            "WHERE id = ? AND state = 'pending'",
            row.tries, row.setbacks, row.not_before, row.error, row.id);
    return {};
  });
}

Result<std::vector<ReceivedRow>> ReceivedStore::left_under_way() {
  return read(database_, [](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE state = 'pending' AND under_way = 1 ORDER BY id"),
        row_of);
  });
}

}  // namespace torchwatch::storage
