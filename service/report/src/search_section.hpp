#pragma once

#include <string>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// "The change came with commit ...": one sentence for the first paragraph. Never blames more
/// than the search found: a culprit, several that cannot be told apart, or nobody.
std::string search_sentence(const SearchFacts&);

/// The part of the issue about the search: culprit or candidates, evidence, what was skipped.
std::string search_section(const SearchFacts&, double interval_confidence);

}  // namespace torchwatch::report
