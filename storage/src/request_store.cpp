#include "torchwatch/storage/request_store.hpp"

#include "query.hpp"
#include "setbacks.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, delivery, kind, state, body_json, result_json, asked_by, token, created_at FROM "
    "request ";

RequestRow row_of(Query& row) {
  return RequestRow{.id = row.take<Id>(),
                    .delivery = row.take<std::string>(),
                    .kind = row.take<RequestKind>(),
                    .state = row.take<RequestState>(),
                    .body_json = row.take<std::string>(),
                    .result_json = row.take<std::string>(),
                    .asked_by = {.user = row.take<std::optional<std::int64_t>>(),
                                 .token = row.take<std::string>()},
                    .created_at = row.take<WallMillis>()};
}

Result<RequestRow> request_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                 "request " + std::to_string(id));
}

Error already_ended(const RequestRow& row) {
  return {ErrorCode::conflict, "request " + std::to_string(row.id) + " is " +
                                   std::string(to_string(row.state)) +
                                   " already: it has ended, and stays as it is"};
}

}  // namespace

bool is_end(RequestState state) {
  return state != RequestState::pending && state != RequestState::running;
}

Result<std::pair<RequestRow, bool>> RequestStore::receive(const std::string& delivery,
                                                          RequestKind kind,
                                                          const std::string& body_json,
                                                          WallMillis now, const Asker& asked_by) {
  return write(database_, [&](Connection& connection) -> Result<std::pair<RequestRow, bool>> {
    const bool is_new =
        execute(connection,
                "INSERT INTO request (delivery, kind, state, body_json, asked_by, token, "
                "created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (delivery) DO NOTHING",
                delivery, kind, RequestState::pending, body_json, asked_by.user, asked_by.token,
                now) == 1;
    TW_TRY(auto row, one_row(Query(connection, kSelect + "WHERE delivery = ?", delivery), row_of,
                             "delivery " + delivery));
    return std::pair{std::move(row), is_new};
  });
}

Result<std::vector<RequestRow>> RequestStore::with_state(RequestState state) {
  return read(database_, [&](Connection& connection) {
    // The state stands in the text, or its index would not be used.
    return all_rows(Query(connection, kSelect + "WHERE state = '" + std::string(to_string(state)) +
                                          "' ORDER BY id"),
                    row_of);
  });
}

Result<RequestRow> RequestStore::claim(Id id) {
  return write(database_, [&](Connection& connection) -> Result<RequestRow> {
    const int changed =
        execute(connection, "UPDATE request SET state = ? WHERE id = ? AND state = ?",
                RequestState::running, id, RequestState::pending);
    TW_TRY(auto row, request_of(connection, id));
    if (changed == 1) return row;
    return fail(ErrorCode::conflict, "request " + std::to_string(id) + " is " +
                                         std::string(to_string(row.state)) + ", not pending");
  });
}

Status RequestStore::reopen(Id id) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE request SET state = ? WHERE id = ? AND state = ?",
            RequestState::pending, id, RequestState::running);
    return {};
  });
}

Status RequestStore::note(Id id, const std::string& result_json) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(connection,
                                "UPDATE request SET result_json = ? "
                                "WHERE id = ? AND state IN ('pending', 'running')",
                                result_json, id);
    if (changed == 1) return {};
    TW_TRY(const auto row, request_of(connection, id));
    return fail(already_ended(row));
  });
}

Status RequestStore::answer(Id id, RequestState state, const std::string& result_json) {
  if (!is_end(state)) {
    return fail(ErrorCode::invalid, "a request does not end as " + std::string(to_string(state)));
  }
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(connection,
                                "UPDATE request SET state = ?, result_json = ? "
                                "WHERE id = ? AND state IN ('pending', 'running')",
                                state, result_json, id);
    if (changed == 1) {
      forget_setback(connection, ItemKind::request, id);
      return {};
    }
    TW_TRY(const auto row, request_of(connection, id));
    return fail(already_ended(row));
  });
}

Result<RequestRow> RequestStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return request_of(connection, id); });
}

Result<std::vector<RequestRow>> RequestStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit),
        row_of);
  });
}

}  // namespace torchwatch::storage
