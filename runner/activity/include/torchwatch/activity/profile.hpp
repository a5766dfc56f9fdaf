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
  std::int64_t reading_ns = 0;  ///< of the wall time, for reading both clocks at its ends
};

/// The shares of a window in millionths.
struct Millionths {
  std::int64_t active = 0;
  std::int64_t copy = 0;
  std::int64_t idle = 0;
};

/// The device's work in the iteration with the median wall time (the lower of two in the middle),
/// as in the TorchBench paper (arXiv 2304.14226).
struct Profile {
  WindowBreakdown breakdown;
  Iteration iteration;
  Millionths median_shares;          ///< each the median over all iterations
  std::int64_t outside_ns = 0;       ///< recorded work that is in no iteration's window
  std::vector<Activity> activities;  ///< the device's, in that iteration
};

/// Breaks the iterations down by the records of the first device. Errors: corrupt, if the recording
/// cannot be complete or its clock is not that of the windows: records lost, unreadable or without
/// times, work before, after or outside the iterations, an iteration without any work, a wall clock
/// that was set. An incomplete recording never gives a smaller figure instead.
Result<Profile> summarise(const Recording& recording, const std::vector<Iteration>& iterations);

/// The work to profile.
struct Work {
  std::function<void()> step;
  std::function<void()> synchronise;  ///< waits until the device has done what `step` gave it
};

/// Nanoseconds of CLOCK_MONOTONIC.
std::int64_t monotonic_ns();

/// Runs `warmup` iterations, discards their records, runs `iterations` more, each in a window of
/// its own between two waits for the device, and ends the trace. Throws what the work throws.
/// Errors: those of `summarise`, unavailable (CUPTI refuses).
Result<Profile> profile(Trace& trace, const Work& work, int warmup, int iterations,
                        const std::function<std::int64_t()>& clock = monotonic_ns);

/// The profile's iteration in Chrome's trace event format, for chrome://tracing and
/// ui.perfetto.dev: one row per stream, with kernels by their C++ names and copies with their
/// bytes, and one row for the iteration. Times are microseconds from its begin.
std::string chrome_trace(const Profile& profile, const std::string& iteration_name);

}  // namespace torchwatch::activity
