#include "torchwatch/runs/evidence_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "benchmarks.hpp"
#include "conditions.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

PastVerdict past_of_row(Query& row) {
  PastVerdict past;
  past.candidate.id = row.take<Id>();
  past.candidate.origin = row.take<BuildOrigin>();
  past.candidate.name = row.take<std::string>();
  past.candidate.version = row.take<std::string>();
  past.at = row.take<WallMillis>();
  past.confidence = row.take<std::optional<double>>();
  past.environment_digest = row.take<std::string>();
  auto& verdict = past.verdict;
  verdict.comparison = row.take<Id>();
  take_judgement(row, verdict);
  return past;
}

Id id_of(Query& row) {
  return row.take<Id>();
}

Level level_of(Query& row) {
  return Level{.comparison = row.take<Id>(),
               .benchmark = take_benchmark(row),
               .candidate_value = row.take<double>()};
}

RunCounts counts_in(Query& row) {
  return RunCounts{.benchmarks = row.take<int>(),
                   .done = row.take<int>(),
                   .failed = row.take<int>(),
                   .first_at = row.take<WallMillis>(),
                   .later_at = row.take<WallMillis>(),
                   .last_at = row.take<WallMillis>()};
}

IssuedRun issued_of(Query& row) {
  return IssuedRun{.attempt = row.take<Id>(),
                   .benchmark = take_benchmark(row),
                   .pass = row.take<Pass>(),
                   .issued_at = row.take<WallMillis>()};
}

/// Reads one value of each comparison that the statement has a row of.
template <typename Value>
Result<std::map<Id, Value>> by_comparison(Database& database, const std::string& sql,
                                          const std::vector<Id>& comparisons) {
  return read(database, [&](Connection& connection) -> Result<std::map<Id, Value>> {
    Query query(connection, sql, comparisons);
    std::map<Id, Value> values;
    while (query.next()) {
      const auto comparison = query.take<Id>();
      values[comparison] = query.take<Value>();
    }
    return values;
  });
}

double duration_of(Query& row) {
  constexpr double kMillisPerSecond = 1000;
  return static_cast<double>(row.take<WallMillis>()) / kMillisPerSecond;
}

}  // namespace

Result<std::vector<PastVerdict>> EvidenceReader::past_of(const PastWanted& wanted) {
  const auto& benchmark = wanted.series.benchmark;
  return read(database_, [&](Connection& connection) -> Result<std::vector<PastVerdict>> {
    TW_TRY(
        auto past,
        all_rows(
            Query(connection,
                  "SELECT build.id, build.origin, build.name, build.version, "
                  "comparison.created_at, "
                  "comparison.confidence, "
                  "iif(?7 = '', '', ifnull((SELECT digest FROM attempt "
                  "JOIN result ON result.attempt_id = attempt.id "
                  "JOIN environment ON environment.id = environment_id "
                  "WHERE attempt.comparison_id = comparison.id "
                  "AND slot IN (?7, ?8) AND " +
                      kFillsSlot +
                      "AND attempt.state = 'done' LIMIT 1), '')), "
                      "comparison_id, verdict, ratio, interval_low, interval_high, "
                      "baseline_value, candidate_value, baseline_spread, candidate_spread, "
                      "pair_spread, runs, verdict.reason FROM comparison "
                      "JOIN verdict ON verdict.comparison_id = comparison.id AND benchmark_id = "
                      "(SELECT id FROM benchmark WHERE workload = ?1 AND configuration = ?2 "
                      "AND variant = ?3) AND metric = ?4 "
                      "JOIN build ON build.id = comparison.candidate_id "
                      "WHERE purpose = ?5 AND comparison.created_at >= ?6 "
                      "AND comparison.created_at < ?9 "
                      "ORDER BY comparison.id DESC LIMIT ?10",
                  benchmark.workload, to_string(benchmark.configuration),
                  to_string(benchmark.variant), wanted.series.metric, wanted.purpose, wanted.from,
                  wanted.slots[0], wanted.slots[1], wanted.until, wanted.limit),
            past_of_row));
    for (auto& each : past) each.verdict.series = wanted.series;
    std::ranges::reverse(past);
    return past;
  });
}

Result<std::map<std::string, std::string>> EvidenceReader::facts_beside_build(
    const std::vector<std::string>& digests) {
  using Found = std::map<std::string, std::string>;
  return read(database_, [&](Connection& connection) -> Result<Found> {
    Found found;
    Query query(connection,
                "SELECT digest, (SELECT json_group_object(name, value) FROM environment_fact "
                "WHERE environment_id = environment.id AND name NOT GLOB 'build.*') "
                "FROM json_each(?) AS wanted JOIN environment ON digest = wanted.value",
                nlohmann::json(digests).dump());
    while (query.next()) {
      auto digest = query.take<std::string>();
      found.insert_or_assign(std::move(digest), query.take<std::string>());
    }
    return found;
  });
}

Result<std::vector<Id>> EvidenceReader::judged_nightlies(Id until, int count) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<Id>> {
    TW_TRY(auto ids,
           all_rows(Query(connection,
                          "SELECT id FROM comparison WHERE purpose = 'nightly' AND id <= ? "
                          "AND EXISTS (SELECT 1 FROM verdict "
                          "WHERE verdict.comparison_id = comparison.id) "
                          "ORDER BY id DESC LIMIT ?",
                          until, count),
                    id_of));
    std::ranges::reverse(ids);
    return ids;
  });
}

Result<std::vector<Level>> EvidenceReader::levels_between(Id first, Id last, Metric metric,
                                                          const LevelFilter& filter) {
  return read(database_, [&](Connection& connection) {
    // By series, each of which is one range of the verdicts.
    return all_rows(
        Query(connection,
              std::string("SELECT comparison_id, ") + kBenchmarkColumns +
                  ", candidate_value FROM benchmark "
                  "CROSS JOIN verdict ON benchmark_id = benchmark.id AND metric = ?3 "
                  "AND comparison_id BETWEEN ?1 AND ?2 "
                  "CROSS JOIN comparison ON comparison.id = comparison_id "
                  "WHERE purpose = 'nightly' AND (?4 = '' OR configuration = ?4) "
                  "AND (?5 = '' OR workload = ?5) "
                  "AND verdict NOT IN ('unsupported', 'failed')",
              first, last, metric, filter.configuration ? to_string(*filter.configuration) : "",
              filter.workload),
        level_of);
  });
}

Result<std::map<Id, WallMillis>> EvidenceReader::last_uses() {
  return read(database_, [](Connection& connection) -> Result<std::map<Id, WallMillis>> {
    Query query(connection,
                "SELECT build, max(at) FROM ("
                "SELECT candidate_id AS build, max(created_at, coalesce(ended_at, 0)) AS at "
                "FROM comparison UNION ALL "
                "SELECT baseline_id, max(created_at, coalesce(ended_at, 0)) FROM comparison "
                "WHERE baseline_id IS NOT NULL) GROUP BY build");
    std::map<Id, WallMillis> uses;
    while (query.next()) {
      const auto build = query.take<Id>();
      uses[build] = query.take<WallMillis>();
    }
    return uses;
  });
}

Result<RunCounts> EvidenceReader::counts_of(Id comparison, const std::string& later_stage) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection,
                         "SELECT count(DISTINCT benchmark_id), ifnull(sum(state = 'done'), 0), "
                         "ifnull(sum(state = 'failed'), 0), ifnull(min(issued_at), 0), "
                         "ifnull(min(iif(instr(slot, ?) > 0, issued_at, NULL)), 0), "
                         "ifnull(max(ended_at), 0) FROM attempt WHERE comparison_id = ?",
                         later_stage, comparison),
                   counts_in, "comparison " + std::to_string(comparison));
  });
}

Result<std::vector<IssuedRun>> EvidenceReader::running_in(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          std::string("SELECT attempt.id, ") + kBenchmarkColumns +
                              ", pass, issued_at FROM attempt "
                              "JOIN benchmark ON benchmark.id = benchmark_id "
                              "WHERE attempt.state = 'issued' AND +comparison_id = ? "
                              "ORDER BY attempt.id",
                          comparison),
                    issued_of);
  });
}

Result<std::vector<double>> EvidenceReader::durations_of(Purpose purpose, int count) {
  return read(database_, [&](Connection& connection) {
    // The first run has the least id; the index alone answers for it.
    return all_rows(Query(connection,
                          "SELECT comparison.ended_at - first.issued_at FROM comparison "
                          "JOIN attempt AS first ON first.id = (SELECT min(id) FROM attempt "
                          "WHERE comparison_id = comparison.id) "
                          "WHERE purpose = ? AND comparison.state = 'reported' "
                          "ORDER BY comparison.id DESC LIMIT ?",
                          purpose, count),
                    duration_of);
  });
}

Result<std::map<Id, WallMillis>> EvidenceReader::first_runs_of(const std::vector<Id>& comparisons) {
  return by_comparison<WallMillis>(
      database_,
      "SELECT wanted.value, first.issued_at FROM json_each(?1) AS wanted "
      "JOIN attempt AS first ON first.id = "
      "(SELECT min(id) FROM attempt WHERE comparison_id = wanted.value)",
      comparisons);
}

Result<std::map<Id, int>> EvidenceReader::benchmarks_lost_in(const std::vector<Id>& comparisons) {
  // Benchmark by benchmark, of which an index has all verdicts and another those without a value.
  const auto verdicts_in = [](const std::string& comparison, const std::string& further) {
    return "(SELECT count(*) FROM verdict WHERE benchmark_id = benchmark.id AND comparison_id = " +
           comparison + further + ")";
  };
  const auto measured_in = [&](const std::string& comparison) {
    return "(" + verdicts_in(comparison, "") + " > " +
           verdicts_in(comparison,
                       " AND verdict <> 'unchanged' AND verdict IN ('unsupported', 'failed')") +
           ")";
  };
  const std::string judged = "EXISTS (SELECT 1 FROM verdict WHERE comparison_id = ";
  return by_comparison<int>(
      database_,
      "SELECT later.id, (SELECT count(*) FROM benchmark WHERE NOT " + measured_in("later.id") +
          " AND " + measured_in("earlier.id") +
          ") FROM comparison AS later JOIN comparison AS earlier ON earlier.id = "
          "(SELECT id FROM comparison WHERE purpose = 'nightly' AND id < later.id AND " +
          judged +
          "comparison.id) ORDER BY id DESC LIMIT 1) "
          "WHERE later.id IN (SELECT value FROM json_each(?1)) AND later.purpose = 'nightly' AND " +
          judged + "later.id)",
      comparisons);
}

Result<std::map<Id, Id>> EvidenceReader::self_tests_near(const std::vector<Id>& comparisons) {
  const std::string newest_judged =
      "(SELECT id FROM comparison WHERE purpose = 'self_test' AND EXISTS (SELECT 1 FROM verdict "
      "WHERE comparison_id = comparison.id "
      "AND verdict IN ('unchanged', 'regressed', 'improved', 'inconclusive')) AND ";
  return by_comparison<Id>(
      database_,
      "SELECT * FROM (SELECT asked.id, coalesce(" + newest_judged +
          "candidate_id = asked.candidate_id ORDER BY id DESC LIMIT 1), " + newest_judged +
          "id < asked.id ORDER BY id DESC LIMIT 1)) AS near FROM comparison AS asked "
          "WHERE asked.id IN (SELECT value FROM json_each(?1))) WHERE near IS NOT NULL",
      comparisons);
}

}  // namespace torchwatch::storage
