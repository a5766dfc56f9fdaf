#include <nlohmann/json.hpp>

#include "benchmarks.hpp"
#include "conditions.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "transaction.hpp"
#include "words.hpp"

// What the passes that observe saw: where a GPU spent its time, and which operators were called.

namespace torchwatch::storage {
namespace {

ProfileOf profile_of(Query& row) {
  return ProfileOf{.benchmark = take_benchmark(row),
                   .run = row.take<Id>(),
                   .breakdown = {.active_ns = row.take<std::int64_t>(),
                                 .copy_ns = row.take<std::int64_t>(),
                                 .idle_ns = row.take<std::int64_t>()}};
}

CallsOf calls_of(Query& row) {
  return CallsOf{.benchmark = take_benchmark(row),
                 .run = row.take<Id>(),
                 .name = row.take<std::string>(),
                 .calls = row.take<std::int64_t>()};
}

Unprofiled unprofiled_in(Query& row) {
  return Unprofiled{.benchmark = take_benchmark(row), .reason = row.take<std::string>()};
}

const std::string kProfileColumns =
    std::string(kBenchmarkColumns) + ", attempt.id, attempt.token, build_id, attempt.ended_at ";

ProfileRun profile_run_in(Query& row) {
  return ProfileRun{.benchmark = take_benchmark(row),
                    .run = row.take<Id>(),
                    .token = row.take<std::string>(),
                    .build = row.take<Id>(),
                    .at = row.take<WallMillis>()};
}

std::optional<Id> optional_id_of(Query& row) {
  return row.take<std::optional<Id>>();
}

/// The newest run of a pass of each benchmark of a build. Runs are found by their comparisons,
/// which have an index; the comparisons of a build are found among all, which are few.
const std::string kNewestOfBuild =
    "(SELECT max(id) AS id FROM attempt WHERE comparison_id IN "
    "(SELECT id FROM comparison WHERE (candidate_id = ?1 OR baseline_id = ?1) "
    "AND purpose <> 'study') "
    "AND build_id = ?1 AND pass = ?2 AND state = 'done' AND slot NOT GLOB 'operators/*' "
    "GROUP BY benchmark_id) AS newest "
    "JOIN attempt ON attempt.id = newest.id JOIN benchmark ON benchmark.id = benchmark_id ";

}  // namespace

Result<std::vector<ProfileOf>> EvidenceReader::profiles_of(Id build) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          std::string("SELECT ") + kBenchmarkColumns +
                              ", attempt.id, active_ns, copy_ns, idle_ns FROM " + kNewestOfBuild +
                              "JOIN result ON result.attempt_id = attempt.id "
                              "WHERE active_ns IS NOT NULL "
                              "ORDER BY workload, configuration, variant",
                          build, Pass::profile),
                    profile_of);
  });
}

Result<std::vector<CallsOf>> EvidenceReader::operators_of(Id build) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          std::string("SELECT ") + kBenchmarkColumns +
                              ", attempt.id, operator.name, calls FROM " + kNewestOfBuild +
                              "JOIN operator ON operator.attempt_id = attempt.id "
                              "ORDER BY workload, configuration, variant, operator.name",
                          build, Pass::coverage),
                    calls_of);
  });
}

Result<std::map<std::string, std::int64_t>> EvidenceReader::operators_registered_in(Id build) {
  static const std::string prefix = "operators_registered.";
  return read(
      database_, [&](Connection& connection) -> Result<std::map<std::string, std::int64_t>> {
        Query stated(connection,
                     "SELECT name, value FROM covariate WHERE name GLOB ?3 AND attempt_id = "
                     "(SELECT max(newest.id) FROM " +
                         kNewestOfBuild +
                         "JOIN covariate ON covariate.attempt_id = newest.id AND name GLOB ?3)",
                     build, Pass::coverage, prefix + "*");
        std::map<std::string, std::int64_t> counts;
        while (stated.next()) {
          const auto name = stated.take<std::string>();
          counts[name.substr(prefix.size())] = stated.take<std::int64_t>();
        }
        if (stated.damage()) return fail(*stated.damage());
        return counts;
      });
}

Result<std::vector<Unprofiled>> EvidenceReader::unprofiled_of(Id build) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          std::string("SELECT ") + kBenchmarkColumns + ", breakdown_reason FROM " +
                              kNewestOfBuild +
                              "JOIN result ON result.attempt_id = attempt.id "
                              "WHERE active_ns IS NULL "
                              "ORDER BY workload, configuration, variant",
                          build, Pass::profile),
                    unprofiled_in);
  });
}

Result<ProfileRun> EvidenceReader::profile_run(Id run) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection,
                         "SELECT " + kProfileColumns +
                             "FROM attempt JOIN benchmark ON benchmark.id = benchmark_id "
                             "WHERE attempt.id = ? AND pass = ? AND state = 'done'",
                         run, Pass::profile),
                   profile_run_in, "trace " + std::to_string(run));
  });
}

Result<std::vector<ProfileRun>> EvidenceReader::profile_runs_of(const Benchmark& benchmark,
                                                                int limit) {
  // As for observed_before: only slots have an index.
  const auto slot = "alone/" + std::string(to_string(Pass::profile)) + "/" + to_string(benchmark);
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT " + kProfileColumns +
                              "FROM comparison JOIN attempt ON comparison_id = comparison.id "
                              "AND slot = ?2 AND " +
                              kFillsSlot +
                              "AND attempt.state = 'done' "
                              "JOIN benchmark ON benchmark.id = benchmark_id "
                              "WHERE purpose = ?1 ORDER BY comparison.id DESC LIMIT ?3",
                          Purpose::measurement, slot + "/0", limit),
                    profile_run_in);
  });
}

Result<std::vector<ProfileRun>> EvidenceReader::profile_runs_of(Id build) {
  const auto slots = "alone/" + std::string(to_string(Pass::profile));
  return read(database_, [&](Connection& connection) {
    // Beside max() SQLite takes the other columns from the row that has it.
    return all_rows(Query(connection,
                          std::string("SELECT ") + kBenchmarkColumns +
                              ", max(attempt.id), attempt.token, build_id, attempt.ended_at "
                              "FROM comparison JOIN attempt ON comparison_id = comparison.id "
                              "AND slot >= ?3 AND slot < ?4 AND " +
                              kFillsSlot +
                              "AND attempt.state = 'done' "
                              "JOIN benchmark ON benchmark.id = benchmark_id "
                              "WHERE purpose = ?1 AND candidate_id = ?2 GROUP BY benchmark_id "
                              "ORDER BY workload, configuration, variant",
                          Purpose::measurement, build, slots + "/", slots + "0"),
                    profile_run_in);
  });
}

Result<std::optional<Id>> EvidenceReader::observed_before(Pass pass, Id build) {
  // The slots of a comparison have an index, their passes have none.
  const auto slots = "alone/" + std::string(to_string(pass));
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection,
                         "SELECT max(candidate_id) FROM comparison WHERE purpose = ?1 "
                         "AND candidate_id < ?2 AND EXISTS (SELECT 1 FROM attempt "
                         "WHERE comparison_id = comparison.id AND slot >= ?3 AND slot < ?4 AND " +
                             kFillsSlot + "AND attempt.state = 'done')",
                         Purpose::measurement, build, slots + "/", slots + "0"),
                   optional_id_of, "measurements");
  });
}

}  // namespace torchwatch::storage
