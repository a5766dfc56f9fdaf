#pragma once

#include <sys/resource.h>

namespace torchwatch::experiments {

/// Returns the seconds of processor time that this process has used so far, without its children.
inline double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace torchwatch::experiments
