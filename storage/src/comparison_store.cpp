#include "torchwatch/storage/comparison_store.hpp"

#include "benchmarks.hpp"
#include "setbacks.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, purpose, candidate_id, baseline_id, repetition, incident_id, nightlies_back, "
    "budget_series, opens_incidents, state, version, plan_json, summary_json, confidence, reason, "
    "created_at, ended_at FROM comparison ";

ComparisonRow row_of(Query& row) {
  return ComparisonRow{.id = row.take<Id>(),
                       .purpose = row.take<Purpose>(),
                       .candidate = row.take<Id>(),
                       .baseline = row.take<std::optional<Id>>(),
                       .repetition = row.take<int>(),
                       .incident = row.take<std::optional<Id>>(),
                       .nightlies_back = row.take<int>(),
                       .budget_series = row.take<int>(),
                       .opens_incidents = row.take<int>() != 0,
                       .state = row.take<ComparisonState>(),
                       .version = row.take<int>(),
                       .plan_json = row.take<std::string>(),
                       .summary_json = row.take<std::string>(),
                       .confidence = row.take<std::optional<double>>(),
                       .reason = row.take<std::string>(),
                       .created_at = row.take<WallMillis>(),
                       .ended_at = row.take<std::optional<WallMillis>>().value_or(0)};
}

std::string name_of(Id comparison) {
  return "comparison " + std::to_string(comparison);
}

Result<ComparisonRow> comparison_of(Connection& connection, Id id) {
  return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of, name_of(id));
}

/// States only advance; an end is final.
bool may_follow(ComparisonState from, ComparisonState to) {
  return !is_end(from) && to > from;
}

/// Checks an update that was guarded by the state and version of `expected`.
Result<ComparisonRow> moved(Connection& connection, const ComparisonRow& expected, int changed) {
  TW_TRY(auto now, comparison_of(connection, expected.id));
  if (changed == 1) return now;
  return fail(ErrorCode::conflict, name_of(now.id) + " is " + std::string(to_string(now.state)) +
                                       " (version " + std::to_string(now.version) +
                                       "), no longer " + std::string(to_string(expected.state)) +
                                       " (version " + std::to_string(expected.version) +
                                       "): read it again");
}

/// Finds the latest repetition of the same purpose and pair.
Query latest(Connection& connection, const NewComparison& asked) {
  return Query(connection,
               kSelect +
                   "WHERE purpose = ? AND candidate_id = ? AND ifnull(baseline_id, 0) = ? "
                   "ORDER BY repetition DESC LIMIT 1",
               asked.purpose, asked.candidate, asked.baseline.value_or(0));
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

/// Adds how many verdicts of one comparison have one word; "unchanged" comes with the number of
/// all.
void count_in(Query& row, std::map<Id, Result<VerdictCounts>>& counted) {
  const auto comparison = row.take<Id>();
  const auto word = row.take<std::string>();
  const auto count = row.take<int>();
  auto& counts = counted[comparison];
  if (!counts) return;
  const auto verdict = parse_word<Verdict>(word);
  if (!verdict) {
    counts = fail(verdict.error().as(ErrorCode::damaged).within(name_of(comparison)));
    return;
  }
  (*counts)[*verdict] += count;
  if (*verdict != Verdict::unchanged) (*counts)[Verdict::unchanged] -= count;
}

void insert_verdict(Connection& connection, const VerdictRow& row) {
  execute(connection,
          "INSERT INTO verdict (comparison_id, benchmark_id, metric, verdict, ratio, interval_low, "
          "interval_high, baseline_value, candidate_value, baseline_spread, candidate_spread, "
          "pair_spread, runs, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          row.comparison, benchmark_id(connection, row.series.benchmark), row.series.metric,
          row.verdict, row.ratio, row.interval_low, row.interval_high, row.baseline_value,
          row.candidate_value, row.baseline_spread, row.candidate_spread, row.pair_spread, row.runs,
          row.reason);
}

std::string ended_already(const ComparisonRow& row, std::string_view action) {
  return name_of(row.id) + " is " + std::string(to_string(row.state)) + " and cannot be " +
         std::string(action);
}

}  // namespace

Result<ComparisonRow> ComparisonStore::open(const NewComparison& asked, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Result<ComparisonRow> {
    TW_TRY(auto last, first_row(latest(connection, asked), row_of));
    if (last && asked.purpose == Purpose::nightly) return *std::move(last);
    execute(connection,
            "INSERT INTO comparison (purpose, candidate_id, baseline_id, repetition, incident_id, "
            "nightlies_back, budget_series, opens_incidents, state, plan_json, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            asked.purpose, asked.candidate, asked.baseline, last ? last->repetition + 1 : 0,
            asked.incident, asked.nightlies_back, asked.budget_series,
            asked.opens_incidents ? 1 : 0, ComparisonState::discovered, asked.plan_json, now);
    return comparison_of(connection, last_id(connection));
  });
}

Result<ComparisonRow> ComparisonStore::advance(const ComparisonRow& comparison, ComparisonState to,
                                               WallMillis now, const std::string& reason) {
  if (!may_follow(comparison.state, to)) {
    return fail(ErrorCode::invalid, name_of(comparison.id) + " cannot go from " +
                                        std::string(to_string(comparison.state)) + " to " +
                                        std::string(to_string(to)));
  }
  return write(database_, [&](Connection& connection) {
    std::optional<WallMillis> ended_at;
    if (is_end(to)) ended_at = now;
    const int changed =
        execute(connection,
                "UPDATE comparison SET state = ?, reason = ?, ended_at = ?, "
                "version = version + 1 WHERE id = ? AND state = ? AND version = ?",
                to, reason, ended_at, comparison.id, comparison.state, comparison.version);
    if (ended_at) {
      forget_setback(connection, ItemKind::comparison, comparison.id);
      forget_builds_without_need(connection);
    }
    return moved(connection, comparison, changed);
  });
}

Result<ComparisonRow> ComparisonStore::cancel(Id id, const std::string& reason, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Result<ComparisonRow> {
    const int changed = execute(connection,
                                "UPDATE comparison SET state = ?, reason = ?, ended_at = ?, "
                                "version = version + 1 WHERE id = ? AND ended_at IS NULL",
                                ComparisonState::cancelled, reason, now, id);
    TW_TRY(auto row, comparison_of(connection, id));
    if (changed == 0) return fail(ErrorCode::conflict, ended_already(row, "cancelled"));
    forget_setback(connection, ItemKind::comparison, id);
    forget_builds_without_need(connection);
    return row;
  });
}

Result<ComparisonRow> ComparisonStore::retry(Id id) {
  return write(database_, [&](Connection& connection) -> Result<ComparisonRow> {
    TW_TRY(const auto before, comparison_of(connection, id));
    if (before.state == ComparisonState::reported || before.state == ComparisonState::accepted) {
      return fail(ErrorCode::conflict, ended_already(before, "retried"));
    }
    execute(connection,
            "UPDATE comparison SET state = CASE WHEN EXISTS (SELECT 1 FROM verdict "
            "WHERE comparison_id = comparison.id) THEN 'judged' ELSE 'discovered' END, "
            "reason = '', ended_at = NULL, version = version + 1 "
            "WHERE id = ? AND state IN ('refused', 'failed', 'cancelled')",
            id);
    execute(connection, "UPDATE build SET unusable = '' WHERE id IN (?, ?)", before.candidate,
            before.baseline);
    forget_setbacks_of_builds(connection, before.candidate, before.baseline);
    forget_setback(connection, ItemKind::comparison, id);
    return comparison_of(connection, id);
  });
}

Result<ComparisonRow> ComparisonStore::set_plan(const ComparisonRow& comparison,
                                                const std::string& plan_json) {
  return write(database_, [&](Connection& connection) {
    const int changed = execute(connection,
                                "UPDATE comparison SET plan_json = ?, version = version + 1 "
                                "WHERE id = ? AND state = ? AND version = ?",
                                plan_json, comparison.id, comparison.state, comparison.version);
    return moved(connection, comparison, changed);
  });
}

Status ComparisonStore::set_summary(Id comparison, const std::string& summary_json,
                                    double confidence) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE comparison SET summary_json = ?, confidence = ? WHERE id = ?",
            summary_json, confidence, comparison);
    return {};
  });
}

Status ComparisonStore::add_verdict(const VerdictRow& row) {
  auto stored = write(database_, [&](Connection& connection) -> Status {
    insert_verdict(connection, row);
    return {};
  });
  if (stored) return stored;
  return fail(stored.error().within("verdict of " + name_of(row.comparison) + " on " +
                                    to_string(row.series)));
}

Result<ComparisonRow> ComparisonStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return comparison_of(connection, id); });
}

Result<std::vector<ComparisonRow>> ComparisonStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit),
        row_of);
  });
}

Result<std::vector<ListedComparison>> ComparisonStore::list_each(int limit, Id before) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<ListedComparison>> {
    Query query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit);
    std::vector<ListedComparison> rows;
    while (query.next()) {
      auto row = row_of(query);
      auto& entry = rows.emplace_back(ListedComparison{.id = row.id, .row = std::move(row)});
      if (auto damage = query.take_damage()) entry.row = fail(*std::move(damage));
    }
    return rows;
  });
}

Result<std::vector<ComparisonRow>> ComparisonStore::unfinished() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kSelect + "WHERE ended_at IS NULL ORDER BY id"), row_of);
  });
}

Result<std::vector<ComparisonRow>> ComparisonStore::nightlies_before(Id comparison, int limit) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE purpose = 'nightly' AND id < ? ORDER BY id DESC LIMIT ?",
              comparison, limit),
        row_of);
  });
}

Result<std::optional<Id>> ComparisonStore::nightly_after(Id comparison) {
  return read(database_, [&](Connection& connection) -> Result<std::optional<Id>> {
    Query query(connection, "SELECT min(id) FROM comparison WHERE purpose = 'nightly' AND id > ?",
                comparison);
    return query.next() ? query.take<std::optional<Id>>() : std::nullopt;
  });
}

Result<int> ComparisonStore::nightlies_until(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return one_row(
        Query(connection, "SELECT count(*) FROM comparison WHERE purpose = 'nightly' AND id <= ?",
              comparison),
        count_of, "a count");
  });
}

Result<std::optional<ComparisonRow>> ComparisonStore::nightly_of(Id candidate) {
  return read(database_, [&](Connection& connection) {
    return first_row(
        Query(connection,
              kSelect + "WHERE purpose = 'nightly' AND candidate_id = ? ORDER BY id DESC LIMIT 1",
              candidate),
        row_of);
  });
}

Result<std::optional<ComparisonRow>> ComparisonStore::recheck_of(Id incident, Id candidate) {
  return read(database_, [&](Connection& connection) {
    return first_row(Query(connection,
                           kSelect + "WHERE purpose = 'recheck' AND incident_id = ? "
                                     "AND candidate_id = ? ORDER BY id DESC LIMIT 1",
                           incident, candidate),
                     row_of);
  });
}

Result<std::vector<ComparisonRow>> ComparisonStore::rechecks_of(Id incident, int limit) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          kSelect + "WHERE purpose = 'recheck' AND incident_id = ? "
                                    "ORDER BY id DESC LIMIT ?",
                          incident, limit),
                    row_of);
  });
}

Result<std::vector<SelfTestTally>> ComparisonStore::self_tests() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT metric, count(*), sum(verdict = 'inconclusive'), "
                          "sum(verdict = 'regressed'), sum(verdict = 'improved') "
                          "FROM comparison JOIN verdict ON comparison_id = comparison.id "
                          "WHERE purpose = 'self_test' AND "
                          "verdict IN ('unchanged', 'regressed', 'improved', 'inconclusive') "
                          "GROUP BY metric ORDER BY metric"),
                    tally_of);
  });
}

std::map<Id, Result<VerdictCounts>> ComparisonStore::verdict_counts(
    const std::vector<Id>& comparisons) {
  std::map<Id, Result<VerdictCounts>> counted;
  for (const auto id : comparisons) counted[id] = VerdictCounts();
  const auto done = read(database_, [&](Connection& connection) -> Status {
    // Nearly all are unchanged. How many there are the index says alone, so that words are read and
    // sorted of the others only.
    Query query(connection,
                "SELECT comparison_id, 'unchanged', count(*) FROM verdict "
                "WHERE comparison_id IN (SELECT value FROM json_each(?1)) GROUP BY comparison_id "
                "UNION ALL "
                "SELECT comparison_id, verdict, count(*) FROM verdict "
                "WHERE comparison_id IN (SELECT value FROM json_each(?1)) "
                "AND verdict <> 'unchanged' GROUP BY comparison_id, verdict",
                comparisons);
    while (query.next()) count_in(query, counted);
    return {};
  });
  for (auto& [id, counts] : counted) {
    if (!done) counts = fail(done.error());
    if (counts) std::erase_if(*counts, [](const auto& entry) { return entry.second == 0; });
  }
  return counted;
}

std::vector<ListedComparison> listed(const std::vector<ComparisonRow>& rows) {
  std::vector<ListedComparison> all;
  for (const auto& row : rows) all.push_back({.id = row.id, .row = row});
  return all;
}

Result<std::vector<ComparisonRow>> comparisons_of(Database& database,
                                                  const std::vector<Id>& candidates,
                                                  const std::vector<Id>& baselines) {
  return read(database, [&](Connection& connection) {
    return all_rows(Query(connection,
                          kSelect + "WHERE candidate_id IN (SELECT value FROM json_each(?)) "
                                    "AND baseline_id IN (SELECT value FROM json_each(?)) "
                                    "ORDER BY id DESC",
                          candidates, baselines),
                    row_of);
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
