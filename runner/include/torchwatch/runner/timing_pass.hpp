#pragma once

#include <cstdint>
#include <vector>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/runner/interleave.hpp"

namespace torchwatch::runner {

struct Timings {
  std::vector<std::int64_t> samples_ns;         ///< per iteration, the device waited for
  std::vector<std::int64_t> device_samples_ns;  ///< per iteration, by the device's events
  std::int64_t iterations_per_sample = 1;
  std::int64_t first_iteration_ns = 1;  ///< the first of the process, the device waited for
  int handovers = 0;                    ///< see Interleave::handovers
  int handovers_not_idle = 0;           ///< see Interleave::handovers_not_idle
};

/// Has the workload compile what its backend runs; returns the nanoseconds that took.
std::int64_t time_compilation(models::Workload&);

/// Returns the items that are processed in 1,000 s by iterations of `ns` with that batch, at
/// least 1.
std::int64_t throughput_of(int batch, std::int64_t ns);

/// Times iterations: the first, which is of the warm-up but is made without one, too; the rest of
/// the warm-up, then samples until there are `iterations` of them, or
/// `iterations_min` and `enough_ns` of measured time, or 15 s of it. Iterations shorter than
/// `batch_below_ns` are timed several at a time, as waiting for a device costs microseconds. With a
/// partner the machine is handed over after every sample, so that the partner has disturbed the
/// caches before each one. A planted slowdown makes samples longer, but not those by the device's
/// events; `interleave` must be acquired, for the warm-up. Throws what the workload
/// throws.
Timings time_iterations(models::Workload& workload, models::Device device,
                        const protocol::Request& request, Interleave interleave = {});

}  // namespace torchwatch::runner
