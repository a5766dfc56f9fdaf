#pragma once

#include "torchwatch/commands/command.hpp"

namespace torchwatch::cli {

using commands::Action;
using commands::Commands;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;

// One file each.
void add_serve(Commands&);
void add_nightly(Commands&);
void add_compare(Commands&);
void add_bisect(Commands&);
void add_status(Commands&);
void add_init(Commands&);
void add_completion(Commands&);
void add_config(Commands&);
void add_manual(Commands&);
void add_help(Commands&);

}  // namespace torchwatch::cli
