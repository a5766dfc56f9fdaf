#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "torchwatch/operators/operator_changes.hpp"

namespace torchwatch::operators {

/// In how many workloads an operator is watched, where as many call it: the median of three is
/// right when one of them is disturbed.
inline constexpr std::size_t kWatchedIn = 3;

/// Returns few of these workloads that together show every operator as often as it is to be
/// watched: one that takes kShareJudged of an iteration in kWatchedIn workloads, or in all that
/// call it so. Greedy: each time that which shows the most that is still lacking. Pure.
std::set<Benchmark> cover(const std::vector<WatchedPairs>&);

}  // namespace torchwatch::operators
