#pragma once

#include "builder.hpp"
#include "recorded_search.hpp"

namespace torchwatch::bisection {

/// Returns what a search has come to.
BisectionResult result_of(const bisect::Answer&, const RecordedSearch&, const BisectionSpec&);

/// Returns what a search ends with before it has come to an answer: the culprits that it has
/// confirmed, if there are any; else nothing but the reason.
BisectionResult result_of(EarlyEnd, const RecordedSearch&, const BisectionSpec&);

}  // namespace torchwatch::bisection
