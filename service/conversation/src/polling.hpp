#pragma once

#include <string>

#include "torchwatch/comparison/services.hpp"
#include "tracker_reader.hpp"

namespace torchwatch::conversation {

/// Receives what changed since the last look: issues of ours, and new comments with a command. An
/// issue that no list shows any more is looked at once a day. The first look begins now, and
/// receives nothing. Errors: of the reader, of storage.
Status look_for_changes(comparison::Services&, const TrackerReader&,
                        const std::string& command_prefix);

}  // namespace torchwatch::conversation
