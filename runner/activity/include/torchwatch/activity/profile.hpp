#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torchwatch/activity/breakdown.hpp"
#include "torchwatch/activity/trace.hpp"

namespace torchwatch::activity {

/// One iteration: its window on the recording's clock, and its length by CLOCK_MONOTONIC.
struct Iteration {
  Window window;
  std::int64_t wall_ns = 0;
};

/// Shares of a window in millionths.
struct Millionths {
  std::int64_t active = 0;
  std::int64_t copy = 0;
  std::int64_t idle = 0;
};

/// What the device did in an iteration, told of the one with the median wall time (the lower of two
/// in the middle), as the paper does.
struct Profile {
  WindowBreakdown breakdown;
  Iteration iteration;
  Millionths median_shares;          ///< each the median over all iterations
  std::int64_t outside_ns = 0;       ///< recorded work that is in no iteration's window
  std::vector<Activity> activities;  ///< of the device in that iteration
};

/// Breaks the iterations down by what was recorded of the first device.
/// Errors: corrupt, where the recording cannot be whole or its clock is not the windows': records
/// lost, unreadable or without times, work before or after all iterations or outside them, an
/// iteration without any work, a wall clock that was set. Never a smaller figure instead.
Result<Profile> summarise(const Recording& recording, const std::vector<Iteration>& iterations);

/// What is to be profiled.
struct Work {
  std::function<void()> step;
  std::function<void()> synchronise;  ///< waits until the device has done what `step` gave it
};

/// ns of CLOCK_MONOTONIC
std::int64_t monotonic_ns();

/// Runs `warmup` iterations, discards what was recorded so far, runs `iterations` more, each in a
/// window of its own between two waits for the device, and ends the trace. Throws what the work
/// throws. Errors: those of `summarise`, unavailable (CUPTI refuses).
Result<Profile> profile(Trace& trace, const Work& work, int warmup, int iterations,
                        const std::function<std::int64_t()>& clock = monotonic_ns);

}  // namespace torchwatch::activity
