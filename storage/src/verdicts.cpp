#include "torchwatch/storage/verdicts.hpp"

#include <algorithm>

#include "benchmarks.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelectVerdict =
    std::string("SELECT comparison_id, ") + kBenchmarkColumns +
    ", metric, verdict, ratio, interval_low, interval_high, baseline_value, candidate_value, "
    "baseline_spread, candidate_spread, pair_spread, runs, reason ";

VerdictRow verdict_of(Query& row) {
  VerdictRow verdict;
  verdict.comparison = row.take<Id>();
  verdict.series.benchmark = take_benchmark(row);
  verdict.series.metric = row.take<Metric>();
  take_judgement(row, verdict);
  return verdict;
}

/// Brings those of each benchmark, which stand together, into the order of the metrics.
void sort_metrics(std::vector<VerdictRow>& rows) {
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(), [&](const VerdictRow& row) {
      return row.series.benchmark != begin->series.benchmark;
    });
    std::ranges::sort(begin, end, {}, [](const VerdictRow& row) { return row.series.metric; });
    begin = end;
  }
}

}  // namespace

Result<std::vector<VerdictRow>> verdicts_of(Database& database, Id comparison) {
  return read(database, [&](Connection& connection) {
    auto rows = all_rows(
        Query(connection,
              kSelectVerdict + "FROM verdict JOIN benchmark ON benchmark.id = benchmark_id "
                               "WHERE comparison_id = ? ORDER BY benchmark_id",
              comparison),
        verdict_of);
    if (rows) sort_metrics(*rows);
    return rows;
  });
}

Result<std::vector<VerdictRow>> verdicts_of(Database& database, Id comparison, Metric metric) {
  return read(database, [&](Connection& connection) {
    return all_rows(
        Query(connection,
              kSelectVerdict + "FROM benchmark CROSS JOIN verdict ON benchmark_id = benchmark.id "
                               "AND metric = ? AND comparison_id = ? ORDER BY benchmark.id",
              metric, comparison),
        verdict_of);
  });
}

Result<std::optional<VerdictRow>> verdict_on(Database& database, Id comparison,
                                             const Series& series) {
  const auto& benchmark = series.benchmark;
  return read(database, [&](Connection& connection) {
    return first_row(
        Query(connection,
              kSelectVerdict + "FROM benchmark JOIN verdict ON benchmark_id = benchmark.id "
                               "AND metric = ? AND comparison_id = ? "
                               "WHERE workload = ? AND configuration = ? AND variant = ?",
              series.metric, comparison, benchmark.workload, to_string(benchmark.configuration),
              to_string(benchmark.variant)),
        verdict_of);
  });
}

}  // namespace torchwatch::storage
