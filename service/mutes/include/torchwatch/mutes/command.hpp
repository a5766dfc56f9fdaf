#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::mutes {

/// Adds `torchwatch mute`: list, lift.
void add_mutes(commands::Commands&);

}  // namespace torchwatch::mutes
