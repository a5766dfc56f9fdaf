#include "torchwatch/storage/request_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, delivery, kind, state, body_json, result_json, created_at FROM request ";

RequestRow row_of(Query& row) {
  return RequestRow{.id = row.take<Id>(),
                    .delivery = row.take<std::string>(),
                    .kind = row.take<RequestKind>(),
                    .state = row.take<RequestState>(),
                    .body_json = row.take<std::string>(),
                    .result_json = row.take<std::string>(),
                    .created_at = row.take<WallMillis>()};
}

Result<RequestRow> request_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                 "request " + std::to_string(id));
}

}  // namespace

Result<std::pair<RequestRow, bool>> RequestStore::receive(const std::string& delivery,
                                                          RequestKind kind,
                                                          const std::string& body_json,
                                                          WallMillis now) {
  return write(database_, [&](Connection& connection) -> Result<std::pair<RequestRow, bool>> {
    const bool is_new =
        execute(connection,
                "INSERT INTO request (delivery, kind, state, body_json, created_at) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (delivery) DO NOTHING",
                delivery, kind, RequestState::pending, body_json, now) == 1;
    TW_TRY(auto row, one_row(Query(connection, kSelect + "WHERE delivery = ?", delivery), row_of,
                             "delivery " + delivery));
    return std::pair{std::move(row), is_new};
  });
}

Result<std::optional<RequestRow>> RequestStore::claim_next() {
  return write(database_, [](Connection& connection) -> Result<std::optional<RequestRow>> {
    TW_TRY(auto next,
           first_row(Query(connection, kSelect + "WHERE state = 'pending' ORDER BY id LIMIT 1"),
                     row_of));
    if (!next) return std::nullopt;
    execute(connection, "UPDATE request SET state = ? WHERE id = ? AND state = ?",
            RequestState::running, next->id, RequestState::pending);
    next->state = RequestState::running;
    return next;
  });
}

Status RequestStore::reopen() {
  return write(database_, [](Connection& connection) -> Status {
    execute(connection, "UPDATE request SET state = 'pending' WHERE state = 'running'");
    return {};
  });
}

Status RequestStore::answer(Id id, RequestState state, const std::string& result_json) {
  if (state != RequestState::done && state != RequestState::failed) {
    return fail(ErrorCode::invalid,
                "a request ends as done or failed, not " + std::string(to_string(state)));
  }
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(
        connection, "UPDATE request SET state = ?, result_json = ? WHERE id = ? AND state = ?",
        state, result_json, id, RequestState::running);
    if (changed == 1) return {};
    TW_TRY(const auto row, request_of(connection, id));
    return fail(ErrorCode::conflict, "request " + std::to_string(id) + " is " +
                                         std::string(to_string(row.state)) +
                                         "; only a running request can be answered");
  });
}

Result<RequestRow> RequestStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return request_of(connection, id); });
}

}  // namespace torchwatch::storage
