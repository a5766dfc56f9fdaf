#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A measured verdict in the past of its series, without what its evidence needs besides.
struct PastValue {
  Id comparison = 0;
  WallMillis at = 0;  ///< when the comparison was opened
  BuildOrigin origin = {};
  std::string build = {};  ///< the candidate's name
  Verdict verdict = {};
  IncidentSeriesRow effect = {};
  int runs = 0;
};

/// Returns the newest values of a series in nightly comparisons, oldest first.
Result<std::vector<PastValue>> past_values(Database&, const Series&, int limit);
/// Returns the id of the newest verdict. Until there is a newer one, no past has changed.
Result<std::optional<Id>> newest_verdict(Database&);

}  // namespace torchwatch::storage
