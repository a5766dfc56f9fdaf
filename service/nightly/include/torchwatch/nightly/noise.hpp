#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/detect/detection_floor.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// How well this machine measures the time of one cell.
struct NoiseFigure {
  Cell cell;
  double value_ns = 0;     ///< median of the runs
  double pair_sd = 0;      ///< robust spread of one pair's log-ratio
  double run_seconds = 0;  ///< mean, from the start of a process to its stored result
  detect::DetectionFloor floor;
  RunStatus status = RunStatus::ok;
  std::string reason;
};

/// Measures a build against itself, in so many pairs of timing runs a cell, as a night would:
/// with fresh copies of the library files where that is configured. Stored as `measure_alone`'s.
Result<std::vector<NoiseFigure>> measure_noise(Workshop&, storage::Id build, int pairs,
                                               std::stop_token stop);

}  // namespace torchwatch::nightly
