#pragma once

#include <stop_token>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// One build's value of a series over several fresh processes.
struct MeasuredFigure {
  Series series;
  double value = 0;  ///< median of the runs' values, in the metric's unit
  /// Robust sd over the value, from the runs or from the iterations of a single timing run.
  double spread = 0;
  int runs = 0;
  RunStatus status = RunStatus::ok;
  std::string reason;
};

/// Measures one build with `runs` fresh processes for each benchmark and pass. The runs
/// belong to a comparison of purpose measurement, which ends without a verdict. Errors: of storage,
/// cancelled, unavailable.
Result<std::vector<MeasuredFigure>> measure_build(Services&, storage::Id build, int runs,
                                                  std::stop_token stop);

}  // namespace torchwatch::comparison
