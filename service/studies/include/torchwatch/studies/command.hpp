#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::studies {

/// Adds `torchwatch study`.
void add_study(commands::Commands&);

}  // namespace torchwatch::studies
