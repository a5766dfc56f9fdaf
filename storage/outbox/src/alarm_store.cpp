#include "torchwatch/outbox/alarm_store.hpp"

#include "alarm_words.hpp"
#include "messages.hpp"
#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

AlarmRow row_of(Query& row) {
  return AlarmRow{.id = row.take<Id>(),
                  .cause = row.take<AlarmCause>(),
                  .since = row.take<WallMillis>(),
                  .raised_at = row.take<WallMillis>(),
                  .ended_at = row.take<std::optional<WallMillis>>().value_or(0),
                  .issue_number = row.take<std::optional<std::int64_t>>()};
}

std::optional<WallMillis> time_of(Connection& connection, const std::string& sql) {
  Query query(connection, sql);
  return query.next() ? query.take<std::optional<WallMillis>>() : std::nullopt;
}

const std::string kNightlies = "FROM comparison WHERE purpose = 'nightly' ";

const std::string kMissed =
    "FROM comparison JOIN verdict ON comparison_id = comparison.id "
    "WHERE purpose = 'drill' AND ended_at IS NOT NULL AND metric = 'time' "
    "AND verdict IN ('unchanged', 'improved') ";

}  // namespace

std::string_view to_string(AlarmCause value) {
  return spelling(value);
}

Result<DataTimes> AlarmStore::times() {
  return read(database_, [](Connection& connection) -> Result<DataTimes> {
    const auto time = [&](const std::string& sql) { return time_of(connection, sql); };
    DataTimes times;
    times.first_nightly = time("SELECT created_at " + kNightlies + "ORDER BY id LIMIT 1");
    times.last_nightly = time("SELECT created_at " + kNightlies + "ORDER BY id DESC LIMIT 1");
    times.last_comparison = time("SELECT created_at FROM comparison ORDER BY id DESC LIMIT 1");
    times.without_verdict =
        time("SELECT created_at " + kNightlies + "AND id > ifnull((SELECT id " + kNightlies +
             "AND state IN ('judged', 'bisected', 'reported', 'accepted') "
             "ORDER BY id DESC LIMIT 1), 0) ORDER BY id LIMIT 1");
    times.last_self_test = time(
        "SELECT ended_at FROM comparison WHERE purpose = 'self_test' "
        "AND state = 'reported' ORDER BY id DESC LIMIT 1");
    times.missed_drill = time(
        "SELECT min(ended_at) " + kMissed + "AND comparison.id > ifnull((SELECT max(found.id) " +
        "FROM comparison AS found JOIN verdict ON comparison_id = found.id " +
        "WHERE found.purpose = 'drill' AND metric = 'time' AND verdict = 'regressed'), 0)");
    times.undelivered = time(
        "SELECT min(failing_since) FROM outbox "
        "WHERE state <> 'sent' AND kind = 'open' AND incident_id IS NOT NULL");
    times.last_delivery = time("SELECT max(sent_at) FROM outbox WHERE sent_at IS NOT NULL");
    return times;
  });
}

Result<std::vector<AlarmRow>> AlarmStore::open() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT id, cause, since, raised_at, ended_at, issue_number FROM alarm "
                          "WHERE ended_at IS NULL ORDER BY id"),
                    row_of);
  });
}

Result<AlarmRow> AlarmStore::raise(const AlarmRow& alarm, const OutboxRow& message) {
  return write(database_, [&](Connection& connection) -> Result<AlarmRow> {
    execute(connection, "INSERT INTO alarm (cause, since, raised_at) VALUES (?, ?, ?)", alarm.cause,
            alarm.since, alarm.raised_at);
    auto stored = alarm;
    stored.id = last_id(connection);
    insert_message(connection, message.key, OutboxKind::open, {}, stored.id, message);
    return stored;
  });
}

Status AlarmStore::end(const AlarmRow& alarm, const OutboxRow& message, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed =
        execute(connection, "UPDATE alarm SET ended_at = ? WHERE id = ? AND ended_at IS NULL", now,
                alarm.id);
    if (changed != 1) return fail(ErrorCode::conflict, "the alarm has ended already");
    insert_message(connection, message.key, OutboxKind::close, {}, alarm.id, message);
    return {};
  });
}

}  // namespace torchwatch::storage
