#pragma once

#include <vector>

#include "activity_buffers.hpp"
#include "cupti_library.hpp"
#include "torchwatch/activity/trace.hpp"

namespace torchwatch::activity {

/// Adds what the buffers hold to `recording`. Records of kinds that say nothing of a device's time
/// are passed over; a buffer that cannot be read to its end is counted as unreadable.
void read_records(const CuptiLibrary& library, const std::vector<ReturnedBuffer>& buffers,
                  Recording& recording);

}  // namespace torchwatch::activity
