#pragma once

#include "torchwatch/commands/command.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::commands {

/// Prints an incident with what its search found: text for a terminal, the Markdown, or
/// JSON. Errors: not_found; corrupt (stored rows).
Outcome show_incident(const Invocation&, storage::Id);

}  // namespace torchwatch::commands
