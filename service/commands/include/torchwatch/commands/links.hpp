#pragma once

#include <functional>
#include <iosfwd>

#include "torchwatch/commands/command.hpp"

namespace torchwatch::commands {

/// Prints text for people. On a terminal that can, the commits of [source] and the issues in it
/// lead to their pages, where the configuration says where these are.
void print_linked(const Invocation&, const std::function<void(std::ostream&)>& print);

}  // namespace torchwatch::commands
