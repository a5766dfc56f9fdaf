#include "torchwatch/runs/trunk_range_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {

Status TrunkRangeStore::record(Id comparison, std::int64_t can_matter) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "INSERT INTO trunk_range (comparison_id, can_matter) VALUES (?, ?) "
            "ON CONFLICT (comparison_id) DO NOTHING",
            comparison, can_matter);
    return {};
  });
}

Result<std::optional<std::int64_t>> TrunkRangeStore::find(Id comparison) {
  TW_TRY(const auto found, find_each({comparison}));
  return found.empty() ? std::nullopt : std::optional(found.begin()->second);
}

Result<std::map<Id, std::int64_t>> TrunkRangeStore::find_each(const std::vector<Id>& comparisons) {
  using Found = std::map<Id, std::int64_t>;
  return read(database_, [&](Connection& connection) -> Result<Found> {
    Query query(connection,
                "SELECT comparison_id, can_matter FROM json_each(?) AS wanted "
                "CROSS JOIN trunk_range ON comparison_id = wanted.value",
                comparisons);
    Found found;
    while (query.next()) {
      const auto comparison = query.take<Id>();
      found[comparison] = query.take<std::int64_t>();
    }
    return found;
  });
}

}  // namespace torchwatch::storage
