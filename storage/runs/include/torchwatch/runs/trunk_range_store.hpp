#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// How many commits between the builds of a comparison can change the library. Thread-safe as
/// Database is. Errors are those of storage.
class TrunkRangeStore {
 public:
  explicit TrunkRangeStore(Database& database) : database_(database) {}

  /// Stores the number, once: what is stored already stays.
  Status record(Id comparison, std::int64_t can_matter);
  /// Returns the number; nothing where it was not found.
  Result<std::optional<std::int64_t>> find(Id comparison);
  /// Returns the numbers of these comparisons; one without is left out.
  Result<std::map<Id, std::int64_t>> find_each(const std::vector<Id>& comparisons);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
