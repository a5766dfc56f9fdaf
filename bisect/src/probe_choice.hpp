#pragma once

#include <optional>
#include <vector>

#include "hypotheses.hpp"

namespace torchwatch::bisect {

/// The measurement that tells most about the problem's culprit per cost: which class, how many
/// series (the clearest first), how many pairs. A class that is built already costs only its runs.
/// None if nothing is left to learn within the budgets.
std::optional<Measure> choose_probe(const Problem&, const SearchRecord&,
                                    const std::vector<Group>& groups);

/// What that probe is worth by the same rule, and what the class that splits most evenly would be.
/// Nothing for a class that does not end a group.
std::optional<ProbeReason> reason_of_probe(const Measure&, const Problem&, const SearchRecord&,
                                           const std::vector<Group>& groups);

/// Runs that the measurement takes.
int runs_needed(const Measure&);

/// Builds that the measurement needs first.
int builds_needed(const Measure&, const SearchRecord&);

/// Whether the budgets allow the measurement.
bool is_affordable(const Measure&, const SearchRecord&);

/// The classes to build at once so that the measurement, and those after it, have to wait least
/// often. `posterior` is by class. Empty if the measurement needs no build.
std::vector<std::size_t> choose_builds(const Measure&, const std::vector<double>& posterior,
                                       const SearchRecord&, std::size_t builders);

}  // namespace torchwatch::bisect
