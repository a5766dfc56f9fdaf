#pragma once

#include <vector>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Makes the facts of one culprit. Commits have their sha alone.
CulpritFacts cause_of(const bisection::NamedCulprit&);

/// Reads the causes that a stored bisection ended with, the largest first, and behind them the
/// suspects as one cause of several commits; `bisection::leading` stands for all. Commits have
/// their sha alone. Empty while it has not ended, without a cause, and where what is stored is
/// damaged.
std::vector<CulpritFacts> causes_of(const storage::BisectionRow&);

}  // namespace torchwatch::report
