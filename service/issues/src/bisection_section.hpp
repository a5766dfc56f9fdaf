#pragma once

#include <string>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// "The change came with commit ...": one sentence for the first paragraph. Never blames more
/// than the search found: a culprit, several that cannot be distinguished, or nobody. Of an
/// incident that was searched.
std::string bisection_sentence(const IncidentFacts&);

/// Makes the part of the issue about the bisection: culprit or candidates, evidence, what was
/// skipped.
std::string bisection_section(const BisectionFacts&, const std::string& address);

}  // namespace torchwatch::report
