#include "torchwatch/report/trunk_range.hpp"

#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::report {

Result<TrunkRange> trunk_range_of(storage::Database& database, const storage::ComparisonRow& row,
                                  const CountCommits& count) {
  if (!row.baseline) return TrunkRange{};
  storage::BuildStore builds(database);
  TW_TRY(const auto from, builds.get(*row.baseline));
  TW_TRY(const auto to, builds.get(row.candidate));
  TrunkRange range{.from = from.trunk_commit, .to = to.trunk_commit};
  const bool are_known = !range.from.empty() && !range.to.empty();
  if (are_known && count) range.commits = count(range.from, range.to);
  return range;
}

}  // namespace torchwatch::report
