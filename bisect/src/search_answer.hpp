#pragma once

#include <string>
#include <vector>

#include "search_plan.hpp"

namespace torchwatch::bisect {

/// The series whose ends differ, each with its change over the whole range, without those that are
/// lost.
std::vector<Change> reproduced(const SearchRecord&);

/// The culprits as steps; an effect that is not clear of nothing counts as none.
std::vector<ExplainedStep> steps_of(const std::vector<Group>& found, const SearchRecord&);

/// The result, from what is found and what was given up; `limit` says which budget ended it.
Answer answer_of(const SearchRecord&, const std::vector<Group>& found, const std::vector<GivenUp>&,
                 std::string limit);

/// What has been read of a series in that place; without a pair or run if nothing has.
Effect effect_read(const SearchRecord&, std::size_t series, const Measure&);

}  // namespace torchwatch::bisect
