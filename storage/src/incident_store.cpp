#include "torchwatch/storage/incident_store.hpp"

#include "benchmarks.hpp"
#include "transaction.hpp"
#include "words.hpp"

// The outbox's half of the store is in outbox.cpp.

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, comparison_id, key, kind, state, title, bisection_id, issue_number, accepted_by, "
    "reason, accepted_at, opened_at, closed_at "
    "FROM incident LEFT JOIN acceptance ON incident_id = id ";

std::optional<Acceptance> take_acceptance(Query& row) {
  const auto by = row.take<std::optional<std::string>>();
  const auto reason = row.take<std::optional<std::string>>();
  const auto at = row.take<std::optional<WallMillis>>();
  if (!by) return std::nullopt;
  return Acceptance{*by, reason.value_or(""), at.value_or(0)};
}

IncidentRow row_of(Query& row) {
  return IncidentRow{.id = row.take<Id>(),
                     .comparison = row.take<Id>(),
                     .key = row.take<std::string>(),
                     .kind = row.take<IncidentKind>(),
                     .state = row.take<IncidentState>(),
                     .title = row.take<std::string>(),
                     .series = {},
                     .bisection = row.take<std::optional<Id>>(),
                     .issue_number = row.take<std::optional<std::int64_t>>(),
                     .acceptance = take_acceptance(row),
                     .opened_at = row.take<WallMillis>(),
                     .closed_at = row.take<std::optional<WallMillis>>().value_or(0)};
}

IncidentSeriesRow series_of(Query& row) {
  IncidentSeriesRow series;
  series.series.benchmark = take_benchmark(row);
  series.series.metric = row.take<Metric>();
  series.ratio = row.take<double>();
  series.interval_low = row.take<double>();
  series.interval_high = row.take<double>();
  series.baseline_value = row.take<double>();
  series.candidate_value = row.take<double>();
  return series;
}

std::string name_of(Id incident) {
  return "incident " + std::to_string(incident);
}

Result<std::vector<IncidentSeriesRow>> series_of(Connection& connection, Id incident) {
  return all_rows(
      Query(
          connection,
          std::string("SELECT ") + kBenchmarkColumns +
              ", metric, ratio, interval_low, interval_high, baseline_value, "
              "candidate_value FROM incident_series JOIN benchmark ON benchmark.id = benchmark_id "
              "WHERE incident_id = ? ORDER BY ordinal",
          incident),
      series_of);
}

Result<std::vector<IncidentRow>> with_series(Connection& connection, Query query) {
  TW_TRY(auto rows, all_rows(std::move(query), row_of));
  for (auto& row : rows) {
    TW_TRY(row.series, series_of(connection, row.id));
  }
  return rows;
}

Result<IncidentRow> incident_of(Connection& connection, Id id) {
  TW_TRY(auto rows, with_series(connection, Query(connection, kSelect + "WHERE id = ?", id)));
  if (!rows.empty()) return std::move(rows.front());
  return fail(ErrorCode::not_found, name_of(id) + " is not stored");
}

Id insert_incident(Connection& connection, const IncidentRow& row) {
  execute(
      connection,
      "INSERT INTO incident (comparison_id, key, kind, state, title, bisection_id, issue_number, "
      "opened_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      row.comparison, row.key, row.kind, IncidentState::open, row.title, row.bisection,
      row.issue_number, row.opened_at);
  return last_id(connection);
}

void insert_series(Connection& connection, Id incident,
                   const std::vector<IncidentSeriesRow>& all_series) {
  int ordinal = 0;
  for (const auto& series : all_series) {
    execute(connection,
            "INSERT INTO incident_series (incident_id, ordinal, benchmark_id, metric, ratio, "
            "interval_low, interval_high, baseline_value, candidate_value) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            incident, ordinal++, benchmark_id(connection, series.series.benchmark),
            series.series.metric, series.ratio, series.interval_low, series.interval_high,
            series.baseline_value, series.candidate_value);
  }
}

/// Checks an update that was guarded by the incident's state.
Status require_one(Connection& connection, int changed, Id incident, std::string_view action) {
  if (changed == 1) return {};
  TW_TRY(const auto row, incident_of(connection, incident));
  return fail(ErrorCode::conflict, name_of(incident) + " is " + std::string(to_string(row.state)) +
                                       " and cannot be " + std::string(action));
}

Status close_incident(Connection& connection, Id incident, WallMillis now,
                      std::string_view action) {
  const int changed = execute(connection,
                              "UPDATE incident SET state = 'closed', closed_at = ? "
                              "WHERE id = ? AND state <> 'closed'",
                              now, incident);
  return require_one(connection, changed, incident, action);
}

}  // namespace

IncidentSeriesRow incident_series(const VerdictRow& verdict) {
  return {.series = verdict.series,
          .ratio = verdict.ratio,
          .interval_low = verdict.interval_low,
          .interval_high = verdict.interval_high,
          .baseline_value = verdict.baseline_value,
          .candidate_value = verdict.candidate_value};
}

Result<IncidentRow> IncidentStore::open(const IncidentRow& row) {
  auto stored = write(database_, [&](Connection& connection) -> Result<IncidentRow> {
    const Id id = insert_incident(connection, row);
    insert_series(connection, id, row.series);
    return incident_of(connection, id);
  });
  if (stored) return stored;
  return fail(stored.error().within("incident with key " + row.key));
}

Result<std::optional<IncidentRow>> IncidentStore::find_open(const std::string& key) {
  return read(database_, [&](Connection& connection) -> Result<std::optional<IncidentRow>> {
    TW_TRY(auto rows,
           with_series(connection,
                       Query(connection, kSelect + "WHERE key = ? AND state <> 'closed'", key)));
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
  });
}

Status IncidentStore::attach_bisection(Id incident, Id bisection) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(
        connection, "UPDATE incident SET bisection_id = ? WHERE id = ? AND state <> 'closed'",
        bisection, incident);
    return require_one(connection, changed, incident, "given a bisection");
  });
}

Status IncidentStore::set_title(Id incident, const std::string& title) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE incident SET title = ? WHERE id = ?", title, incident);
    return {};
  });
}

Status IncidentStore::add_recurrence(Id incident, Id comparison) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "INSERT INTO recurrence (incident_id, comparison_id) VALUES (?, ?)",
            incident, comparison);
    return {};
  });
}

Status IncidentStore::acknowledge(Id incident) {
  return write(database_, [&](Connection& connection) -> Status {
    const int changed = execute(
        connection, "UPDATE incident SET state = 'acknowledged' WHERE id = ? AND state = 'open'",
        incident);
    return require_one(connection, changed, incident, "acknowledged");
  });
}

Status IncidentStore::close(Id incident, WallMillis now) {
  return write(database_, [&](Connection& connection) {
    return close_incident(connection, incident, now, "closed");
  });
}

Status IncidentStore::accept(Id incident, const Acceptance& acceptance) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY_VOID(close_incident(connection, incident, acceptance.at, "accepted"));
    execute(connection,
            "INSERT INTO acceptance (incident_id, accepted_by, reason, accepted_at) "
            "VALUES (?, ?, ?, ?)",
            incident, acceptance.by, acceptance.reason, acceptance.at);
    return {};
  });
}

Status IncidentStore::reopen(Id incident) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY(const auto row, incident_of(connection, incident));
    TW_TRY(const auto same,
           all_rows(Query(connection, kSelect + "WHERE key = ? AND state <> 'closed'", row.key),
                    row_of));
    if (!same.empty() && same.front().id != incident) {
      return fail(ErrorCode::conflict, name_of(incident) + " cannot be reopened: " +
                                           name_of(same.front().id) + " is open for this change");
    }
    execute(connection, "DELETE FROM acceptance WHERE incident_id = ?", incident);
    const int changed = execute(
        connection,
        "UPDATE incident SET state = 'open', closed_at = NULL WHERE id = ? AND state = 'closed'",
        incident);
    return require_one(connection, changed, incident, "reopened");
  });
}

Result<IncidentRow> IncidentStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return incident_of(connection, id); });
}

Result<std::vector<IncidentRow>> IncidentStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return with_series(
        connection,
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit));
  });
}

Result<std::vector<IncidentRow>> IncidentStore::of_comparison(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return with_series(
        connection, Query(connection, kSelect + "WHERE comparison_id = ? ORDER BY id", comparison));
  });
}

Result<std::vector<IncidentRow>> IncidentStore::found_again_by(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return with_series(
        connection,
        Query(connection,
              kSelect + "WHERE id IN (SELECT incident_id FROM recurrence WHERE comparison_id = ?) "
                        "ORDER BY id",
              comparison));
  });
}

}  // namespace torchwatch::storage
