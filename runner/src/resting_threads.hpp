#pragma once

#include <chrono>

namespace torchwatch::runner {

/// Waits until no other thread of this process runs or wants to, `limit` at the longest, and says
/// whether that came. A loop's threads go on waiting actively when it has ended, libgomp's for
/// milliseconds, and would take the cores from another process whose turn it is.
bool wait_until_others_rest(std::chrono::milliseconds limit);

}  // namespace torchwatch::runner
