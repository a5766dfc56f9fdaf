#pragma once

#include <optional>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Comparisons of the newest nightlies in the order in which they follow one another, whenever they
/// were compared.
struct NewestNightly {
  std::optional<storage::ComparisonRow> known;   ///< of the newest nightly, whatever its state
  std::optional<storage::ComparisonRow> judged;  ///< of the newest nightly that has a result
};

/// Finds them among the nightly comparisons, given newest first: the newest nightly is the one that
/// no other is compared with. Pure.
NewestNightly newest_nightly(const std::vector<storage::ComparisonRow>&);

/// Reads the newest comparisons and finds them there. Errors: those of storage.
Result<NewestNightly> newest_nightly(storage::Database&);

}  // namespace torchwatch::report
