#pragma once

#include <string>
#include <vector>

#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Reads the causes that a stored bisection ended with, the largest first, and behind them the
/// suspects as one cause of several commits. Commits have their sha alone. Empty while it has not
/// ended, without a cause, and where what is stored is damaged.
std::vector<CulpritFacts> causes_of(const storage::BisectionRow&);

/// Returns the cause that stands for all: the largest that is one commit, else the first; null
/// without causes.
const CulpritFacts* leading(const std::vector<CulpritFacts>&);

}  // namespace torchwatch::report
