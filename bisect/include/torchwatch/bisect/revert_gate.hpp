#pragma once

#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::bisect {

/// What pairs of the bad end against itself without the culprit say of a series.
enum class RevertState {
  open,       ///< measure more pairs
  gone,       ///< more than half of what the culprit does goes with it
  stays,      ///< less than half does, so something else makes the change, now at least
  undecided,  ///< the pairs that may be spent do not tell
};

/// What those pairs read.
struct RevertReading {
  RevertState state = RevertState::open;
  double effect = 0;  ///< what the bad end has more than without the culprit, in the series's unit
};

/// Judges these pairs, of which there are any, by half of `of_culprit`, which the culprit was
/// measured to do against its parent. Call after each batch of pairs, with all of them. Pure.
RevertReading judge_revert(const SearchSeries&, const Effect& of_culprit,
                           const std::vector<double>& pairs);

}  // namespace torchwatch::bisect
