#pragma once

#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/tracker/conversation_store.hpp"

namespace torchwatch::conversation {

/// Brings what a command says to what became of it by now, and its state to ended when that has
/// ended. Errors: of storage; corrupt.
Status bring_up_to_date(comparison::Services&, storage::CommandRow&);

/// Queues what a command says as the next message of its reply, and stores the command. Call inside
/// a transaction. Errors: of storage.
Status say(comparison::Services&, storage::CommandRow&);

/// Does both for every command that waits and has something new to say. A command that cannot be
/// read keeps no other from being brought up to date. Errors: damaged, cancelled.
Status update_replies(comparison::Services&, const log::Logger&);

}  // namespace torchwatch::conversation
