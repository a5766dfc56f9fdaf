#pragma once

#include <string>
#include <vector>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// How large a change is: ln of a ratio, else bytes.
double size_of(const EffectFacts&);

/// How many causes a search found; commits among which it could not decide count as one more.
std::size_t cause_count(const BisectionFacts&);

/// Whether the cause made a part of the incident's change alone: there are others, or it was
/// measured to make less than half of the largest change.
bool is_part(const CulpritFacts&, const IncidentFacts&);

/// Returns what the cause was measured to change, the largest first, without what may be nothing.
std::vector<EffectFacts> own_effects(const CulpritFacts&);

}  // namespace torchwatch::report
