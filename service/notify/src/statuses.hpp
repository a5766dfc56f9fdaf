#pragma once

#include <vector>

#include "torchwatch/notify/notices.hpp"
#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::notify {

/// Makes the messages that mark a nightly's commit as an event of its comparison says: a status
/// (pending, success, failure for confirmed regressions, error where it could not be compared), and
/// with a GitHub App a check run. Errors: of storage.
Result<std::vector<storage::OutboxRow>> marks_of(const NoticeParts&, const storage::EventRow&);

}  // namespace torchwatch::notify
