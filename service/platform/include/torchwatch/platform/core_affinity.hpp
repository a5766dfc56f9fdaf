#pragma once

#include <sched.h>

#include <optional>

namespace torchwatch::platform {

/// Keeps the calling thread, and every thread that it starts meanwhile, off the core that a timed
/// run is pinned to: the highest that the process may use. Ends with the object for the calling
/// thread, never for the started ones. Without effect where there is only one core. Must end on the
/// thread on which it began.
class OffMeasuredCore {
 public:
  OffMeasuredCore();
  ~OffMeasuredCore();
  OffMeasuredCore(const OffMeasuredCore&) = delete;
  OffMeasuredCore& operator=(const OffMeasuredCore&) = delete;

 private:
  std::optional<cpu_set_t> before_;
};

/// Returns the highest core that the calling thread may use, -1 if the kernel does not say.
int highest_core();

}  // namespace torchwatch::platform
