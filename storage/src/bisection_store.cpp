#include "torchwatch/storage/bisection_store.hpp"

#include "query.hpp"
#include "setbacks.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, incident_id, state, version, good, bad, spec_json, result_json, created_at, "
    "ended_at FROM bisection ";

BisectionRow row_of(Query& row) {
  return BisectionRow{.id = row.take<Id>(),
                      .incident = row.take<std::optional<Id>>(),
                      .state = row.take<BisectionState>(),
                      .version = row.take<int>(),
                      .good = row.take<std::string>(),
                      .bad = row.take<std::string>(),
                      .spec_json = row.take<std::string>(),
                      .result_json = row.take<std::string>(),
                      .created_at = row.take<WallMillis>(),
                      .ended_at = row.take<std::optional<WallMillis>>().value_or(0)};
}

BisectionEventRow event_of(Query& row) {
  return BisectionEventRow{.ordinal = row.take<int>(),
                           .kind = row.take<std::string>(),
                           .body_json = row.take<std::string>()};
}

std::string name_of(Id bisection) {
  return "bisection " + std::to_string(bisection);
}

Result<BisectionRow> bisection_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of, name_of(id));
}

int next_ordinal(Connection& connection, Id bisection) {
  Query query(connection,
              "SELECT ifnull(max(ordinal) + 1, 0) FROM bisection_event WHERE bisection_id = ?",
              bisection);
  return query.next() ? query.take<int>() : 0;
}

Status require_next(Connection& connection, Id bisection, const BisectionEventRow& event) {
  TW_TRY(const auto row, bisection_of(connection, bisection));
  if (row.state != BisectionState::open) {
    return fail(ErrorCode::conflict, name_of(bisection) + " has ended and takes no events");
  }
  const int next = next_ordinal(connection, bisection);
  if (event.ordinal == next) return {};
  return fail(ErrorCode::conflict, name_of(bisection) + ": event " + std::to_string(event.ordinal) +
                                       " is not the next one (" + std::to_string(next) +
                                       "): read its events again");
}

}  // namespace

Result<BisectionRow> BisectionStore::open(const BisectionRow& row) {
  return write(database_, [&](Connection& connection) -> Result<BisectionRow> {
    execute(connection,
            "INSERT INTO bisection (incident_id, state, good, bad, spec_json, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            row.incident, BisectionState::open, row.good, row.bad, row.spec_json, row.created_at);
    return bisection_of(connection, last_id(connection));
  });
}

Status BisectionStore::append(Id bisection, const BisectionEventRow& event) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY_VOID(require_next(connection, bisection, event));
    execute(connection,
            "INSERT INTO bisection_event (bisection_id, ordinal, kind, body_json) "
            "VALUES (?, ?, ?, ?)",
            bisection, event.ordinal, event.kind, event.body_json);
    return {};
  });
}

Result<std::vector<BisectionEventRow>> BisectionStore::events_of(Id bisection) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT ordinal, kind, body_json FROM bisection_event "
                          "WHERE bisection_id = ? ORDER BY ordinal",
                          bisection),
                    event_of);
  });
}

Status BisectionStore::end(const BisectionRow& row, const std::string& result_json,
                           WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed =
        execute(connection,
                "UPDATE bisection SET state = ?, result_json = ?, ended_at = ?, "
                "version = version + 1 WHERE id = ? AND state = ? AND version = ?",
                BisectionState::ended, result_json, now, row.id, BisectionState::open, row.version);
    if (changed == 1) {
      forget_setback(connection, ItemKind::bisection, row.id);
      return {};
    }
    TW_TRY_VOID(bisection_of(connection, row.id));
    return fail(ErrorCode::conflict, name_of(row.id) + " has ended already: read its result");
  });
}

Result<BisectionRow> BisectionStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return bisection_of(connection, id); });
}

Result<std::vector<BisectionRow>> BisectionStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit),
        row_of);
  });
}

Result<std::vector<BisectionRow>> BisectionStore::unfinished() {
  return read(database_, [](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE state = 'open' AND NOT (EXISTS (SELECT 1 FROM incident "
                                    "JOIN comparison ON comparison.id = incident.comparison_id "
                                    "WHERE incident.id = bisection.incident_id "
                                    "AND comparison.state = 'cancelled') "
                                    "AND NOT EXISTS (SELECT 1 FROM bisection AS earlier "
                                    "WHERE earlier.incident_id = bisection.incident_id "
                                    "AND earlier.id < bisection.id)) ORDER BY id"),
        row_of);
  });
}

}  // namespace torchwatch::storage
