#include "torchwatch/runs/drills.hpp"

#include "conditions.hpp"
#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

/// A wait is nothing that a device does, so only the time of the whole is slowed down.
const std::string kTally =
    "SELECT count(*), ifnull(sum(verdict = 'regressed'), 0), "
    "ifnull(sum(verdict = 'inconclusive'), 0) "
    "FROM comparison JOIN verdict ON comparison_id = comparison.id "
    "WHERE purpose = 'drill' AND metric = 'time' AND ";

DrillTally tally_of(Query& row) {
  return {.planted = row.take<int>(), .found = row.take<int>(), .inconclusive = row.take<int>()};
}

}  // namespace

Result<DrillTally> drills(Database& database) {
  return read(database, [](Connection& connection) {
    return one_row(Query(connection, kTally + kJudged), tally_of, "a count");
  });
}

Result<DrillTally> drills_on(Database& database, Id machine) {
  return read(database, [&](Connection& connection) {
    return one_row(Query(connection, kTally + judged_on_machine("?"), machine), tally_of,
                   "a count");
  });
}

Result<std::optional<Id>> last_drill(Database& database) {
  return read(database, [](Connection& connection) -> Result<std::optional<Id>> {
    Query query(connection, "SELECT max(id) FROM comparison WHERE purpose = 'drill'");
    return query.next() ? query.take<std::optional<Id>>() : std::nullopt;
  });
}

Result<std::optional<Id>> newest_reported(Database& database, Purpose purpose) {
  return read(database, [&](Connection& connection) -> Result<std::optional<Id>> {
    Query query(connection,
                "SELECT id FROM comparison WHERE purpose = ? AND state = 'reported' "
                "ORDER BY id DESC LIMIT 1",
                purpose);
    return query.next() ? query.take<std::optional<Id>>() : std::nullopt;
  });
}

}  // namespace torchwatch::storage
