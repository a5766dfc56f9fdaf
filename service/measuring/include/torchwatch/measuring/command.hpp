#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::measuring {

/// Adds `torchwatch measure`.
void add_measure(commands::Commands&);
/// Adds `torchwatch workload`: list, batches, verify.
void add_workloads(commands::Commands&);
/// Adds `torchwatch check`.
void add_check(commands::Commands&);

}  // namespace torchwatch::measuring
