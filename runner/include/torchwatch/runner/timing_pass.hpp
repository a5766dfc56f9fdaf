#pragma once

#include <cstdint>
#include <vector>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/runner/turns.hpp"

namespace torchwatch::runner {

struct Timings {
  std::vector<std::int64_t> samples_ns;         ///< per iteration, the device waited for
  std::vector<std::int64_t> device_samples_ns;  ///< per iteration, by the device's events
  std::int64_t iterations_per_sample = 1;
  int turns_taken = 0;     ///< while a partner measured too
  int turns_restless = 0;  ///< handed over while a thread of this process still ran
};

/// Times iterations by the request: warm-up, then samples until there are `iterations` of them, or
/// `iterations_min` and `enough_ns` of measured time, or 15 s of it. Iterations shorter than
/// `batch_below_ns` are timed several at a time, as waiting for a device costs microseconds
/// (measurement.md 2.1, 5). With a partner each turn is one sample, so that what the other process
/// does to the caches in between is the same before every one; it is this process's
/// turn already, for the warm-up. Throws what the workload throws.
Timings time_iterations(models::Workload& workload, models::Device device,
                        const protocol::Request& request, Turns turns = {});

}  // namespace torchwatch::runner
