#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// One build's figures of a target over several fresh processes.
struct SoloFigure {
  Target target;
  double value = 0;  ///< median of the runs' values
  /// Robust sd over the value: of the runs, or of the iterations of a single timing run.
  double spread = 0;
  int runs = 0;
  RunStatus status = RunStatus::ok;
  std::string reason;
};

/// Measures one build alone, `runs` fresh processes a cell and pass; every run is stored under a
/// night that ends without a verdict.
Result<std::vector<SoloFigure>> measure_alone(Workshop&, storage::Id build, int runs,
                                              std::stop_token stop);

}  // namespace torchwatch::nightly
