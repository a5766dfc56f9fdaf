#include "torchwatch/storage/incident_store.hpp"

#include "benchmarks.hpp"
#include "transaction.hpp"
#include "words.hpp"

// The outbox's half of the store is in outbox.cpp.

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, comparison_id, key, kind, state, title, bisection_id, issue_number, unfiled, "
    "opened_at, closed_at FROM incident ";

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
                     .unfiled = row.take<std::string>(),
                     .decisions = {},
                     .acceptance = {},
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

DecisionRow decision_of(Query& row) {
  return {.kind = row.take<DecisionKind>(),
          .decision = {.by = row.take<std::string>(),
                       .reason = row.take<std::string>(),
                       .at = row.take<WallMillis>(),
                       .asked_by = row.take<std::string>(),
                       .event = row.take<Id>()}};
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

Result<std::vector<DecisionRow>> decisions_on(Connection& connection, Id incident) {
  return all_rows(Query(connection,
                        "SELECT kind, made_by, reason, made_at, asked_by, event FROM decision "
                        "WHERE incident_id = ? ORDER BY id",
                        incident),
                  decision_of);
}

Result<std::vector<IncidentRow>> whole_rows(Connection& connection, Query query) {
  TW_TRY(auto rows, all_rows(std::move(query), row_of));
  for (auto& row : rows) {
    TW_TRY(row.series, series_of(connection, row.id));
    TW_TRY(row.decisions, decisions_on(connection, row.id));
    if (row.decisions.empty()) continue;
    const auto& newest = row.decisions.back();
    if (newest.kind == DecisionKind::accepted) row.acceptance = newest.decision;
  }
  return rows;
}

Result<IncidentRow> incident_of(Connection& connection, Id id) {
  TW_TRY(auto rows, whole_rows(connection, Query(connection, kSelect + "WHERE id = ?", id)));
  if (!rows.empty()) return std::move(rows.front());
  return fail(not_stored(name_of(id)));
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

/// Says why a decision cannot be made: "incident 1 is accepted already".
std::string refusal_of(const IncidentRow& row, DecisionKind kind) {
  const auto wanted = to_string(kind);
  const auto state = row.acceptance ? to_string(DecisionKind::accepted) : to_string(row.state);
  const auto is = name_of(row.id) + " is " + std::string(state);
  if (kind == DecisionKind::reopened) return is + ": it need not be reopened";
  if (state == wanted) return is + " already";
  return is + " and cannot be " + std::string(wanted) + ": reopen it first";
}

/// Keeps a decision whose change of the state has been made, if it has.
Status keep(Connection& connection, int changed, Id incident, DecisionKind kind,
            const Decision& decision) {
  TW_TRY(const auto row, incident_of(connection, incident));
  if (changed != 1) return fail(ErrorCode::conflict, refusal_of(row, kind));
  execute(connection,
          "INSERT INTO decision (incident_id, kind, made_by, reason, made_at, asked_by, event) "
          "VALUES (?, ?, ?, ?, ?, ?, (SELECT ifnull(max(id), 0) FROM event))",
          incident, kind, decision.by, decision.reason, decision.at, decision.asked_by);
  return {};
}

Status close_as(Connection& connection, Id incident, DecisionKind kind, const Decision& decision) {
  const int changed = execute(connection,
                              "UPDATE incident SET state = 'closed', closed_at = ? "
                              "WHERE id = ? AND state <> 'closed'",
                              decision.at, incident);
  return keep(connection, changed, incident, kind, decision);
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
           whole_rows(connection,
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
    if (changed == 1) return {};
    TW_TRY_VOID(incident_of(connection, incident));
    return fail(ErrorCode::conflict, name_of(incident) + " is closed: reopen it first");
  });
}

Status IncidentStore::set_title(Id incident, const std::string& title) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE incident SET title = ? WHERE id = ?", title, incident);
    return {};
  });
}

Status IncidentStore::set_unfiled(Id incident, const std::string& reason) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE incident SET unfiled = ? WHERE id = ?", reason, incident);
    return {};
  });
}

Status IncidentStore::add_recurrence(Id incident, Id comparison) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "INSERT OR IGNORE INTO recurrence (incident_id, comparison_id) VALUES (?, ?)", incident,
            comparison);
    return {};
  });
}

Result<std::vector<Id>> IncidentStore::recurrences_of(Id incident) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, "SELECT comparison_id FROM recurrence WHERE incident_id = ? ORDER BY 1",
              incident),
        +[](Query& row) { return row.take<Id>(); });
  });
}

Status IncidentStore::acknowledge(Id incident, const Decision& decision) {
  return write(database_, [&](Connection& connection) {
    const int changed = execute(
        connection, "UPDATE incident SET state = 'acknowledged' WHERE id = ? AND state = 'open'",
        incident);
    return keep(connection, changed, incident, DecisionKind::acknowledged, decision);
  });
}

Status IncidentStore::close(Id incident, const Decision& decision) {
  return write(database_, [&](Connection& connection) {
    return close_as(connection, incident, DecisionKind::closed, decision);
  });
}

Status IncidentStore::accept(Id incident, const Decision& decision) {
  return write(database_, [&](Connection& connection) {
    return close_as(connection, incident, DecisionKind::accepted, decision);
  });
}

Status IncidentStore::reopen(Id incident, const Decision& decision) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY(const auto row, incident_of(connection, incident));
    TW_TRY(const auto same,
           all_rows(Query(connection, kSelect + "WHERE key = ? AND state <> 'closed'", row.key),
                    row_of));
    if (!same.empty() && same.front().id != incident) {
      return fail(ErrorCode::conflict, name_of(incident) + " cannot be reopened: " +
                                           name_of(same.front().id) + " is open for this change");
    }
    const int changed = execute(
        connection,
        "UPDATE incident SET state = 'open', closed_at = NULL WHERE id = ? AND state <> 'open'",
        incident);
    return keep(connection, changed, incident, DecisionKind::reopened, decision);
  });
}

Status IncidentStore::dispute(Id incident, const Decision& decision) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY(const auto row, incident_of(connection, incident));
    const int open = row.state == IncidentState::closed ? 0 : 1;
    return keep(connection, open, incident, DecisionKind::disputed, decision);
  });
}

Status IncidentStore::decide(Id incident, DecisionKind kind, const Decision& decision) {
  switch (kind) {
    case DecisionKind::acknowledged:
      return acknowledge(incident, decision);
    case DecisionKind::accepted:
      return accept(incident, decision);
    case DecisionKind::closed:
      return close(incident, decision);
    case DecisionKind::reopened:
      return reopen(incident, decision);
    case DecisionKind::disputed:
      return dispute(incident, decision);
  }
  return fail(ErrorCode::internal, "an unknown kind of decision");
}

Result<IncidentRow> IncidentStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return incident_of(connection, id); });
}

Result<std::vector<IncidentRow>> IncidentStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return whole_rows(
        connection,
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit));
  });
}

Result<std::vector<IncidentRow>> IncidentStore::unclosed() {
  return read(database_, [](Connection& connection) {
    return whole_rows(connection,
                      Query(connection, kSelect + "WHERE state <> 'closed' ORDER BY id DESC"));
  });
}

Result<std::optional<std::int64_t>> newest_issue(Database& database) {
  using Number = std::optional<std::int64_t>;
  return read(database, [](Connection& connection) {
    return one_row(
        Query(connection, "SELECT max(issue_number) FROM incident WHERE issue_number IS NOT NULL"),
        +[](Query& row) { return row.take<Number>(); }, "the newest issue");
  });
}

Result<std::vector<IncidentRow>> IncidentStore::of_comparison(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return whole_rows(
        connection, Query(connection, kSelect + "WHERE comparison_id = ? ORDER BY id", comparison));
  });
}

Result<std::vector<IncidentRow>> IncidentStore::of_series(const Series& series) {
  const auto& [workload, configuration, variant] = series.benchmark;
  return read(database_, [&](Connection& connection) {
    return whole_rows(connection,
                      Query(connection,
                            kSelect + "WHERE id IN (SELECT incident_id FROM benchmark "
                                      "JOIN incident_series ON benchmark_id = benchmark.id "
                                      "WHERE workload = ? AND configuration = ? AND variant = ? "
                                      "AND metric = ?) ORDER BY id",
                            workload, to_string(configuration), to_string(variant), series.metric));
  });
}

Result<std::vector<IncidentRow>> IncidentStore::found_again_by(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return whole_rows(
        connection,
        Query(connection,
              kSelect + "WHERE id IN (SELECT incident_id FROM recurrence WHERE comparison_id = ?) "
                        "ORDER BY id",
              comparison));
  });
}

}  // namespace torchwatch::storage
