#pragma once

#include <string>

#include "torchwatch/conversation/inbox.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "tracker_reader.hpp"

namespace torchwatch::conversation {

/// Answers a comment with a command, once for each comment: finds out who may, carries it out, and
/// queues the reply, all but the question for rights in one transaction. Returns in a sentence what
/// it came to. Errors: of the reader, of what is carried out, of storage.
Result<std::string> answer_comment(const Parts&, comparison::Services&, const TrackerReader&,
                                   const std::string& own_login, const storage::ReceivedRow&);

}  // namespace torchwatch::conversation
