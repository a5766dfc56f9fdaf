#include <algorithm>

#include "benchmarks.hpp"
#include "conditions.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "transaction.hpp"
#include "words.hpp"

// What RunStore reads across owners: the past of a series, and how long runs take.

namespace torchwatch::storage {
namespace {

/// The machine class of a row of table `value`; NULL where its run states no facts.
constexpr const char* kClassOfValue =
    "(SELECT class_id FROM result JOIN environment ON environment.id = environment_id "
    "JOIN machine ON machine.id = machine_id WHERE result.attempt_id = value.attempt_id) ";

RunValue history_of(Query& row) {
  return RunValue{.attempt = row.take<Id>(),
                  .build = row.take<Id>(),
                  .measured_at = row.take<WallMillis>(),
                  .value = row.take<std::int64_t>(),
                  .is_thinned = row.take<int>() != 0,
                  .machine = row.take<std::optional<Id>>(),
                  .comparison = row.take<std::optional<Id>>(),
                  .slot = row.take<std::string>()};
}

}  // namespace

Result<std::map<std::pair<Benchmark, Pass>, double>> RunStore::usual_seconds() {
  using Found = std::map<std::pair<Benchmark, Pass>, double>;
  constexpr double kSecond = 1e-3;
  return read(database_, [&](Connection& connection) -> Result<Found> {
    Found found;
    Query query(connection, std::string("SELECT ") + kBenchmarkColumns +
                                ", newest.pass, avg(newest.ended_at - newest.issued_at) "
                                "FROM (SELECT benchmark_id, pass, ended_at, issued_at FROM attempt "
                                "WHERE state = 'done' AND " +
                                kOfSeries +
                                "ORDER BY id DESC LIMIT 5000) AS newest "
                                "JOIN benchmark ON benchmark.id = newest.benchmark_id "
                                "GROUP BY newest.benchmark_id, newest.pass");
    while (query.next()) {
      auto benchmark = take_benchmark(query);
      const auto pass = query.take<Pass>();
      found[{std::move(benchmark), pass}] = kSecond * query.take<double>();
    }
    if (query.damage()) return fail(*query.damage());
    return found;
  });
}

Result<std::optional<Id>> RunStore::newest_class(const Series& series) {
  return read(database_, [&](Connection& connection) -> Result<std::optional<Id>> {
    Query query(connection,
                std::string("SELECT ") + kClassOfValue +
                    "FROM benchmark JOIN value ON value.benchmark_id = benchmark.id "
                    "JOIN attempt ON attempt.id = value.attempt_id "
                    "WHERE workload = ? AND configuration = ? AND variant = ? AND metric = ? AND " +
                    kOfSeries + "ORDER BY value.attempt_id DESC LIMIT 1",
                series.benchmark.workload, to_string(series.benchmark.configuration),
                to_string(series.benchmark.variant), series.metric);
    return query.next() ? query.take<std::optional<Id>>() : std::nullopt;
  });
}

Result<std::vector<RunValue>> RunStore::history(const Series& series, int limit, HistoryOf whose,
                                                std::optional<Id> of_class) {
  const std::string published =
      whose == HistoryOf::published_builds
          ? "AND (SELECT origin FROM build WHERE build.id = attempt.build_id) <> 'commit' "
          : "";
  if (!of_class) {
    TW_TRY(of_class, newest_class(series));
  }
  return read(database_, [&](Connection& connection) -> Result<std::vector<RunValue>> {
    TW_TRY(
        auto newest_first,
        all_rows(
            Query(
                connection,
                std::string("SELECT value.attempt_id, build_id, attempt.ended_at, value.value, ") +
                    "EXISTS (SELECT 1 FROM thinned_sample "
                    "WHERE thinned_sample.attempt_id = value.attempt_id), "
                    "(SELECT machine_id FROM result JOIN environment "
                    "ON environment.id = environment_id "
                    "WHERE result.attempt_id = value.attempt_id), "
                    "attempt.comparison_id, attempt.slot "
                    "FROM benchmark JOIN value ON value.benchmark_id = benchmark.id "
                    "JOIN attempt ON attempt.id = value.attempt_id "
                    "WHERE workload = ? AND configuration = ? AND variant = ? AND metric = ? " +
                    published + "AND " + kOfSeries + "AND " + kClassOfValue + "IS ? " +
                    "ORDER BY value.attempt_id DESC LIMIT ?",
                series.benchmark.workload, to_string(series.benchmark.configuration),
                to_string(series.benchmark.variant), series.metric, of_class, limit),
            history_of));
    std::reverse(newest_first.begin(), newest_first.end());
    return newest_first;
  });
}

}  // namespace torchwatch::storage
