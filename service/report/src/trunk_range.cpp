#include "torchwatch/report/trunk_range.hpp"

namespace torchwatch::report {

TrunkRange trunk_range_of(const storage::BuildRow& from, const storage::BuildRow& to,
                          const CountCommits& count) {
  TrunkRange range{.from = from.trunk_commit, .to = to.trunk_commit};
  const bool are_known = !range.from.empty() && !range.to.empty();
  if (are_known && count) range.commits = count(range.from, range.to);
  return range;
}

}  // namespace torchwatch::report
