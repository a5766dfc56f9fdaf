#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::verification {

/// Adds `torchwatch workload verify`.
void add_verify(commands::Commands&, CLI::App& workload);

}  // namespace torchwatch::verification
