#include "torchwatch/runs/past_values.hpp"

#include <algorithm>

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

Nightly nightly_of_row(Query& row) {
  return Nightly{.comparison = row.take<Id>(),
                 .at = row.take<WallMillis>(),
                 .origin = row.take<BuildOrigin>(),
                 .build = row.take<std::string>()};
}

/// Has of its nightly the id alone.
PastValue value_of_row(Query& row) {
  return PastValue{.nightly = {.comparison = row.take<Id>()},
                   .verdict = row.take<Verdict>(),
                   .interval_low = row.take<double>(),
                   .interval_high = row.take<double>(),
                   .baseline_value = row.take<double>(),
                   .candidate_value = row.take<double>(),
                   .runs = row.take<int>()};
}

/// Those of the values, newest first, that nightlies have: at most `limit` of them.
std::vector<PastValue> of_nightlies(std::vector<PastValue> values,
                                    std::span<const Nightly> nightlies, std::size_t limit) {
  std::vector<PastValue> found;
  found.reserve(std::min(values.size(), limit));
  auto nightly = nightlies.rbegin();
  for (auto& value : values) {
    const auto comparison = value.nightly.comparison;
    while (nightly != nightlies.rend() && nightly->comparison > comparison) ++nightly;
    if (nightly == nightlies.rend() || found.size() == limit) break;
    if (nightly->comparison != comparison) continue;
    value.nightly = *nightly;
    found.push_back(std::move(value));
  }
  return found;
}

}  // namespace

Result<std::vector<Nightly>> nightlies_after(Database& database, Id comparison) {
  return read(database, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT comparison.id, comparison.created_at, build.origin, build.name "
                          "FROM comparison JOIN build ON build.id = comparison.candidate_id "
                          "WHERE purpose = 'nightly' AND comparison.id > ? "
                          "ORDER BY comparison.id",
                          comparison),
                    nightly_of_row);
  });
}

Result<std::vector<PastValue>> past_values(Database& database, const Series& series,
                                           std::span<const Nightly> nightlies, std::size_t limit) {
  const auto& benchmark = series.benchmark;
  return read(database, [&](Connection& connection) -> Result<std::vector<PastValue>> {
    TW_TRY(
        auto values,
        all_rows(Query(connection,
                       "SELECT comparison_id, verdict, interval_low, interval_high, "
                       "baseline_value, candidate_value, runs FROM verdict WHERE benchmark_id = "
                       "(SELECT id FROM benchmark WHERE workload = ? AND configuration = ? "
                       "AND variant = ?) AND metric = ? "
                       "AND verdict NOT IN ('unsupported', 'failed') ORDER BY comparison_id DESC",
                       benchmark.workload, to_string(benchmark.configuration),
                       to_string(benchmark.variant), series.metric),
                 value_of_row));
    auto found = of_nightlies(std::move(values), nightlies, limit);
    std::ranges::reverse(found);
    return found;
  });
}

}  // namespace torchwatch::storage
