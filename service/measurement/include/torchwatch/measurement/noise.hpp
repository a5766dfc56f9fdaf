#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/detect/minimum_detectable_effect.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::measurement {

/// How well this machine measures the time of one benchmark.
struct NoiseFigure {
  Benchmark benchmark;
  double value_ns = 0;     ///< median time of an iteration over the runs
  double pair_sd = 0;      ///< robust spread of one pair's log-ratio
  double run_seconds = 0;  ///< mean, from the start of a process to its stored result
  double threshold = 0;    ///< of the series, a ratio - 1
  detect::MinimumDetectableEffect floor;
  RunStatus status = RunStatus::ok;
  std::string reason;
};

/// Measures a build against itself in `pairs` pairs of timing runs for each benchmark, as a nightly
/// comparison does, with fresh copies of the library files if configured. The runs are stored like
/// those of `measure_build`. Errors: of storage, cancelled, unavailable.
Result<std::vector<NoiseFigure>> measure_noise(comparison::Services&, storage::Id build, int pairs,
                                               std::stop_token stop);

}  // namespace torchwatch::measurement
