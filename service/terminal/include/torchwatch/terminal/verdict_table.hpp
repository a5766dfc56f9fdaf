#pragma once

#include <iosfwd>
#include <vector>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::terminal {

/// Prints a table of verdicts: what changed first. `confidence` is that of the intervals.
void print_verdicts(std::ostream&, std::vector<storage::VerdictRow>, double confidence);

}  // namespace torchwatch::terminal
