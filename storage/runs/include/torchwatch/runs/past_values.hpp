#pragma once

#include <span>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// What the pasts of all series share of a nightly comparison. None of it ever changes.
struct Nightly {
  Id comparison = 0;
  WallMillis at = 0;  ///< when the comparison was opened
  BuildOrigin origin = {};
  std::string build = {};  ///< the candidate's name
};

/// A measured verdict in the past of its series, without what its evidence needs besides.
struct PastValue {
  Nightly nightly = {};
  Verdict verdict = {};
  double interval_low = 0;  ///< candidate / baseline, as interval_high
  double interval_high = 0;
  double baseline_value = 0;
  double candidate_value = 0;
  int runs = 0;
};

/// Returns the nightly comparisons that were opened after that one, oldest first.
Result<std::vector<Nightly>> nightlies_after(Database&, Id comparison);
/// Returns the newest values of a series in those nightlies, which are all until some time, oldest
/// first.
Result<std::vector<PastValue>> past_values(Database&, const Series&, std::span<const Nightly>,
                                           std::size_t limit);

}  // namespace torchwatch::storage
