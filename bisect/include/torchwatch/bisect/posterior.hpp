#pragma once

#include <vector>

namespace torchwatch::bisect {

/// Estimates how many more commits a search tries before one is named, from the probability of each
/// to be the culprit: a commit tried tells at most one bit. 0 where nothing is looked for.
int commits_left(const std::vector<double>& posterior);

/// Returns the size of the smallest set of commits that holds the culprit with that probability. 0
/// where nothing is looked for.
int commits_holding(const std::vector<double>& posterior, double probability);

}  // namespace torchwatch::bisect
