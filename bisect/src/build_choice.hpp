#pragma once

#include <vector>

#include "search_record.hpp"

namespace torchwatch::bisect {

/// The classes to build at once so that the measurement, and those after it, have to wait least
/// often. `posterior` is by class. Empty if the measurement needs no build.
std::vector<std::size_t> choose_builds(const Measure&, const std::vector<double>& posterior,
                                       const SearchRecord&, std::size_t builders);

}  // namespace torchwatch::bisect
