#pragma once

#include <functional>
#include <string>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/tracker/received_store.hpp"

namespace torchwatch::conversation {

/// Works on what was received so that its error stays its own, as nightly/attend.hpp has it for
/// other work: it ends with what `work` returns, is refused, counts a try, or waits. Does nothing
/// while it waits. Errors: cancelled, damaged; of storage.
Status attend(storage::ReceivedStore&, const platform::Clock&, storage::ReceivedRow,
              const std::function<Result<std::string>()>& work);

/// Counts a try of what an earlier process worked on when it died. Call at start.
Status note_downfalls(storage::ReceivedStore&, const platform::Clock&);

/// Says what waits and why; empty where nothing does.
Result<std::string> why_some_wait(storage::ReceivedStore&);

}  // namespace torchwatch::conversation
