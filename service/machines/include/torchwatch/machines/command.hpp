#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::machines {

/// Adds `torchwatch machine`: list, show.
void add_machines(commands::Commands&);

}  // namespace torchwatch::machines
