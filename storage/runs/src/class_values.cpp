#include "torchwatch/runs/class_values.hpp"

#include "benchmarks.hpp"
#include "conditions.hpp"
#include "facts_text.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

/// From an attempt to the class of the machine that its run was on.
const std::string kWithClass =
    "JOIN result ON result.attempt_id = attempt.id "
    "JOIN environment ON environment.id = environment_id "
    "JOIN machine ON machine.id = machine_id ";

/// The attempts of the comparisons of a build (?1), and those of bisections with it. No index leads
/// from a build to its attempts.
const std::string kAttemptsNearBuild =
    "SELECT id FROM attempt WHERE comparison_id IN "
    "(SELECT id FROM comparison WHERE ?1 IN (candidate_id, baseline_id)) "
    "UNION ALL SELECT id FROM attempt WHERE bisection_id IS NOT NULL AND build_id = ?1";

MachineClass class_in(Query& row) {
  return {row.take<Id>(), row.take<std::string>(), facts_in(row.take<std::string>())};
}

}  // namespace

Result<std::vector<MachineClass>> machine_classes(Database& database) {
  return read(database, [](Connection& connection) {
    return all_rows(Query(connection, "SELECT id, name, facts FROM machine_class ORDER BY id"),
                    class_in);
  });
}

Result<std::vector<ClassValues>> values_by_class(Database& database, Id build, Metric metric) {
  return read(database, [&](Connection& connection) -> Result<std::vector<ClassValues>> {
    // CROSS: no index leads from a metric to its build, so the attempts of the build come first.
    Query query(connection,
                std::string("SELECT ") + kBenchmarkColumns +
                    ", class_id, value.value FROM attempt "
                    "CROSS JOIN value ON value.attempt_id = attempt.id AND metric = ?2 "
                    "JOIN benchmark ON benchmark.id = attempt.benchmark_id " +
                    kWithClass + "WHERE attempt.id IN (" + kAttemptsNearBuild +
                    ") AND build_id = ?1 AND class_id IS NOT NULL AND " + kOfSeries +
                    "ORDER BY attempt.benchmark_id, class_id, attempt.id DESC",
                build, metric);
    std::vector<ClassValues> all;
    while (query.next()) {
      auto benchmark = take_benchmark(query);
      const auto of_class = query.take<Id>();
      const bool is_new =
          all.empty() || all.back().benchmark != benchmark || all.back().machine_class != of_class;
      if (is_new) all.push_back({std::move(benchmark), of_class});
      all.back().values.push_back(query.take<std::int64_t>());
    }
    if (query.damage()) return fail(*query.damage());
    return all;
  });
}

Result<std::vector<BuildOnClasses>> builds_on_classes(Database& database) {
  return read(database, [](Connection& connection) -> Result<std::vector<BuildOnClasses>> {
    Query query(connection,
                "WITH measured AS MATERIALIZED (SELECT DISTINCT build_id, benchmark_id, class_id "
                "FROM attempt " +
                    kWithClass +
                    "WHERE attempt.comparison_id IN (SELECT id FROM comparison "
                    "WHERE purpose NOT IN ('drill', 'study') ORDER BY id DESC LIMIT ?1) "
                    "AND pass = 'timing' AND status = 'ok' AND class_id IS NOT NULL) "
                    "SELECT DISTINCT build_id, class_id FROM measured "
                    "WHERE (build_id, benchmark_id) IN (SELECT build_id, benchmark_id "
                    "FROM measured GROUP BY build_id, benchmark_id HAVING count(*) > 1) "
                    "ORDER BY build_id DESC, class_id",
                kComparisonsSearched);
    std::vector<BuildOnClasses> all;
    while (query.next()) {
      const auto build = query.take<Id>();
      if (all.empty() || all.back().build != build) all.push_back({build});
      all.back().classes.push_back(query.take<Id>());
    }
    return all;
  });
}

}  // namespace torchwatch::storage
