#include "torchwatch/runs/past_values.hpp"

#include <algorithm>

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

PastValue value_of_row(Query& row) {
  return PastValue{.comparison = row.take<Id>(),
                   .at = row.take<WallMillis>(),
                   .origin = row.take<BuildOrigin>(),
                   .build = row.take<std::string>(),
                   .verdict = row.take<Verdict>(),
                   .effect = {.series = {},
                              .ratio = row.take<double>(),
                              .interval_low = row.take<double>(),
                              .interval_high = row.take<double>(),
                              .baseline_value = row.take<double>(),
                              .candidate_value = row.take<double>()},
                   .runs = row.take<int>()};
}

}  // namespace

Result<std::vector<PastValue>> past_values(Database& database, const Series& series, int limit) {
  const auto& benchmark = series.benchmark;
  return read(database, [&](Connection& connection) -> Result<std::vector<PastValue>> {
    TW_TRY(
        auto values,
        all_rows(Query(connection,
                       "SELECT comparison.id, comparison.created_at, build.origin, build.name, "
                       "verdict, ratio, interval_low, interval_high, baseline_value, "
                       "candidate_value, runs FROM comparison "
                       "JOIN verdict ON verdict.comparison_id = comparison.id AND benchmark_id = "
                       "(SELECT id FROM benchmark WHERE workload = ? AND configuration = ? "
                       "AND variant = ?) AND metric = ? "
                       "JOIN build ON build.id = comparison.candidate_id "
                       "WHERE purpose = 'nightly' AND verdict NOT IN ('unsupported', 'failed') "
                       "ORDER BY comparison.id DESC LIMIT ?",
                       benchmark.workload, to_string(benchmark.configuration),
                       to_string(benchmark.variant), series.metric, limit),
                 value_of_row));
    for (auto& each : values) each.effect.series = series;
    std::ranges::reverse(values);
    return values;
  });
}

Result<std::optional<Id>> newest_verdict(Database& database) {
  return read(database, [](Connection& connection) {
    return one_row(
        Query(connection, "SELECT max(id) FROM verdict"),
        +[](Query& row) { return row.take<std::optional<Id>>(); }, "the newest verdict");
  });
}

}  // namespace torchwatch::storage
