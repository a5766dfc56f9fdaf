#include "torchwatch/storage/night_store.hpp"

#include "cells.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, kind, candidate_id, baseline_id, repetition, state, version, plan_json, "
    "summary_json, reason, created_at, ended_at FROM night ";

NightRow row_of(Query& row) {
  return NightRow{.id = row.take<Id>(),
                  .kind = row.take<NightKind>(),
                  .candidate = row.take<Id>(),
                  .baseline = row.take<std::optional<Id>>(),
                  .repetition = row.take<int>(),
                  .state = row.take<NightState>(),
                  .version = row.take<int>(),
                  .plan_json = row.take<std::string>(),
                  .summary_json = row.take<std::string>(),
                  .reason = row.take<std::string>(),
                  .created_at = row.take<WallMillis>(),
                  .ended_at = row.take<std::optional<WallMillis>>().value_or(0)};
}

std::string name_of(Id night) {
  return "night " + std::to_string(night);
}

Result<NightRow> night_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of, name_of(id));
}

bool is_end(NightState state) {
  return state == NightState::reported || state == NightState::accepted ||
         state == NightState::refused;
}

/// Only forwards; an end is final.
bool may_follow(NightState from, NightState to) {
  return !is_end(from) && to > from;
}

/// After an update that was guarded by the state and version of `expected`.
Result<NightRow> moved(Connection& connection, const NightRow& expected, int changed) {
  TW_TRY(auto now, night_of(connection, expected.id));
  if (changed == 1) return now;
  return fail(ErrorCode::conflict, name_of(now.id) + " is " + std::string(to_string(now.state)) +
                                       " (version " + std::to_string(now.version) +
                                       "), no longer " + std::string(to_string(expected.state)) +
                                       " (version " + std::to_string(expected.version) +
                                       "): read it again");
}

/// The latest repetition of a pair.
Query latest(Connection& connection, NightKind kind, Id candidate, std::optional<Id> baseline) {
  return Query(connection,
               kSelect +
                   "WHERE kind = ? AND candidate_id = ? AND ifnull(baseline_id, 0) = ? "
                   "ORDER BY repetition DESC LIMIT 1",
               kind, candidate, baseline.value_or(0));
}

VerdictRow verdict_of(Query& row) {
  VerdictRow verdict;
  verdict.id = row.take<Id>();
  verdict.night = row.take<Id>();
  verdict.target.cell = take_cell(row);
  verdict.target.metric = row.take<Metric>();
  verdict.verdict = row.take<Verdict>();
  verdict.ratio = row.take<double>();
  verdict.interval_low = row.take<double>();
  verdict.interval_high = row.take<double>();
  verdict.baseline_value = row.take<double>();
  verdict.candidate_value = row.take<double>();
  verdict.baseline_spread = row.take<double>();
  verdict.candidate_spread = row.take<double>();
  verdict.runs = row.take<int>();
  verdict.reason = row.take<std::string>();
  return verdict;
}

SelfTestTally tally_of(Query& row) {
  return SelfTestTally{.metric = row.take<Metric>(),
                       .series = row.take<int>(),
                       .inconclusive = row.take<int>(),
                       .regressed = row.take<int>(),
                       .improved = row.take<int>()};
}

int count_of(Query& row) {
  return row.take<int>();
}

void insert_verdict(Connection& connection, const VerdictRow& row) {
  execute(connection,
          "INSERT INTO verdict (night_id, cell_id, metric, verdict, ratio, interval_low, "
          "interval_high, baseline_value, candidate_value, baseline_spread, candidate_spread, "
          "runs, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          row.night, cell_id(connection, row.target.cell), row.target.metric, row.verdict,
          row.ratio, row.interval_low, row.interval_high, row.baseline_value, row.candidate_value,
          row.baseline_spread, row.candidate_spread, row.runs, row.reason);
}

}  // namespace

Result<NightRow> NightStore::opened(NightKind kind, Id candidate, std::optional<Id> baseline,
                                    WallMillis now) {
  return write(database_, [&](Connection& connection) -> Result<NightRow> {
    TW_TRY(auto last, first_row(latest(connection, kind, candidate, baseline), row_of));
    if (last && kind == NightKind::nightly) return *std::move(last);
    execute(connection,
            "INSERT INTO night (kind, candidate_id, baseline_id, repetition, state, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            kind, candidate, baseline, last ? last->repetition + 1 : 0, NightState::discovered,
            now);
    return night_of(connection, last_id(connection));
  });
}

Result<NightRow> NightStore::advanced(const NightRow& night, NightState to, WallMillis now,
                                      const std::string& reason) {
  if (!may_follow(night.state, to)) {
    return fail(ErrorCode::invalid, name_of(night.id) + " cannot go from " +
                                        std::string(to_string(night.state)) + " to " +
                                        std::string(to_string(to)));
  }
  return write(database_, [&](Connection& connection) {
    std::optional<WallMillis> ended_at;
    if (is_end(to)) ended_at = now;
    const int changed = execute(connection,
                                "UPDATE night SET state = ?, reason = ?, ended_at = ?, "
                                "version = version + 1 WHERE id = ? AND state = ? AND version = ?",
                                to, reason, ended_at, night.id, night.state, night.version);
    return moved(connection, night, changed);
  });
}

Result<NightRow> NightStore::planned(const NightRow& night, const std::string& plan_json) {
  return write(database_, [&](Connection& connection) {
    const int changed = execute(connection,
                                "UPDATE night SET plan_json = ?, version = version + 1 "
                                "WHERE id = ? AND state = ? AND version = ?",
                                plan_json, night.id, night.state, night.version);
    return moved(connection, night, changed);
  });
}

Status NightStore::summarised(Id night, const std::string& summary_json) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE night SET summary_json = ? WHERE id = ?", summary_json, night);
    return {};
  });
}

Status NightStore::verdict_reached(const VerdictRow& row) {
  auto stored = write(database_, [&](Connection& connection) -> Status {
    insert_verdict(connection, row);
    return {};
  });
  if (stored) return stored;
  return fail(
      stored.error().within("verdict of " + name_of(row.night) + " on " + to_string(row.target)));
}

Result<std::vector<VerdictRow>> NightStore::verdicts_of(Id night) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          std::string("SELECT verdict.id, night_id, ") + kCellColumns +
                              ", metric, verdict, ratio, interval_low, interval_high, "
                              "baseline_value, candidate_value, baseline_spread, "
                              "candidate_spread, runs, reason "
                              "FROM verdict JOIN cell ON cell.id = cell_id "
                              "WHERE night_id = ? ORDER BY verdict.id",
                          night),
                    verdict_of);
  });
}

Result<NightRow> NightStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return night_of(connection, id); });
}

Result<std::vector<NightRow>> NightStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit),
        row_of);
  });
}

Result<std::vector<NightRow>> NightStore::unfinished() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kSelect + "WHERE ended_at IS NULL ORDER BY id"), row_of);
  });
}

Result<std::vector<NightRow>> NightStore::nightlies_before(Id night, int limit) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE kind = 'nightly' AND id < ? ORDER BY id DESC LIMIT ?",
              night, limit),
        row_of);
  });
}

Result<int> NightStore::nightlies_until(Id night) {
  return read(database_, [&](Connection& connection) {
    return one_row(
        Query(connection, "SELECT count(*) FROM night WHERE kind = 'nightly' AND id <= ?", night),
        count_of, "a count");
  });
}

Result<std::optional<NightRow>> NightStore::nightly_of(Id candidate) {
  return read(database_, [&](Connection& connection) {
    return first_row(
        Query(connection,
              kSelect + "WHERE kind = 'nightly' AND candidate_id = ? ORDER BY id DESC LIMIT 1",
              candidate),
        row_of);
  });
}

Result<std::vector<SelfTestTally>> NightStore::self_tests() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT metric, count(*), sum(verdict = 'inconclusive'), "
                          "sum(verdict = 'regressed'), sum(verdict = 'improved') "
                          "FROM night JOIN verdict ON night_id = night.id "
                          "WHERE kind = 'self_test' AND "
                          "verdict IN ('unchanged', 'regressed', 'improved', 'inconclusive') "
                          "GROUP BY metric ORDER BY metric"),
                    tally_of);
  });
}

SelfTestTally sum_of(const std::vector<SelfTestTally>& tallies) {
  SelfTestTally sum;
  for (const auto& tally : tallies) {
    sum.series += tally.series;
    sum.inconclusive += tally.inconclusive;
    sum.regressed += tally.regressed;
    sum.improved += tally.improved;
  }
  return sum;
}

}  // namespace torchwatch::storage
