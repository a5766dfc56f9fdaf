#include "benchmarks.hpp"

namespace torchwatch::storage {

Id benchmark_id(Connection& connection, const Benchmark& benchmark) {
  const auto configuration = to_string(benchmark.configuration);
  const auto variant = to_string(benchmark.variant);
  execute(connection,
          "INSERT INTO benchmark (workload, configuration, variant) VALUES (?, ?, ?) "
          "ON CONFLICT DO NOTHING",
          benchmark.workload, configuration, variant);
  Query query(connection,
              "SELECT id FROM benchmark WHERE workload = ? AND configuration = ? AND variant = ?",
              benchmark.workload, configuration, variant);
  return query.next() ? query.take<Id>() : 0;
}

Benchmark take_benchmark(Query& row) {
  Benchmark benchmark;
  benchmark.workload = row.take<std::string>();
  benchmark.configuration = row.take<Configuration>();
  benchmark.variant = row.take<Variant>();
  return benchmark;
}

void take_judgement(Query& row, VerdictRow& verdict) {
  verdict.verdict = row.take<Verdict>();
  verdict.ratio = row.take<double>();
  verdict.interval_low = row.take<double>();
  verdict.interval_high = row.take<double>();
  verdict.baseline_value = row.take<double>();
  verdict.candidate_value = row.take<double>();
  verdict.baseline_spread = row.take<double>();
  verdict.candidate_spread = row.take<double>();
  verdict.pair_spread = row.take<double>();
  verdict.runs = row.take<int>();
  verdict.reason = row.take<std::string>();
}

}  // namespace torchwatch::storage
