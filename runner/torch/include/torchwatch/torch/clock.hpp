#pragma once

#include <chrono>
#include <cstdint>

namespace torchwatch::runner {

/// CLOCK_MONOTONIC, which is steady_clock on Linux.
inline std::int64_t now_ns() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

}  // namespace torchwatch::runner
