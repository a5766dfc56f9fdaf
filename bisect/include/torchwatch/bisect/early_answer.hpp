#pragma once

#include <string>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::bisect {

/// What a search gives that ends after these events for a reason of its owner's: the culprits that
/// it has verified by then. Settings and series are as those of CulpritSearch::create; the first
/// that does not fit a later event is its error, as of CulpritSearch::apply.
Result<Answer> early_answer(const SearchSettings&, const std::vector<SearchSeries>&,
                            std::size_t classes, const std::vector<SearchEvent>&,
                            std::string reason);

}  // namespace torchwatch::bisect
