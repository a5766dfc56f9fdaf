#pragma once

#include <optional>
#include <string>

#include "torchwatch/conversation/command.hpp"
#include "torchwatch/conversation/inbox.hpp"
#include "torchwatch/tracker/conversation_store.hpp"

namespace torchwatch::conversation {

/// Does what a command asks for, which a person with the right to it wrote. `row` says who and
/// where; what it asks for that takes longer is noted there, and else what is to be said. Call
/// inside a transaction. Errors: invalid, not_found, conflict, with a message for that person; what
/// is done besides is as of nightly and of storage.
Status carry_out(const Parts&, comparison::Services&, const Command&, storage::CommandRow& row);

/// The forms of all commands, as a reply has them.
std::string help_text(const std::string& prefix);

}  // namespace torchwatch::conversation
