#pragma once

#include <ctime>

namespace torchwatch::experiments {

/// Returns the seconds of processor time that this process has used so far, without its children;
/// of this thread alone with CLOCK_THREAD_CPUTIME_ID.
inline double processor_seconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace torchwatch::experiments
