#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/records/run_result.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::measurement {

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
Result<std::vector<MeasuredFigure>> measure_build(comparison::Services&, storage::Id build,
                                                  int runs, std::stop_token stop);

/// A run of a pass that times nothing.
struct Observed {
  Benchmark benchmark;
  storage::Id run = 0;
  RunStatus status = RunStatus::ok;
  std::string reason;                       ///< why it has no figures, or nothing of a GPU
  std::optional<Breakdown> breakdown = {};  ///< profile pass, on a GPU
  std::map<std::string, std::int64_t> operators = {};  ///< coverage pass: their calls
};

/// Runs one fresh process for each benchmark of the plan, with the whole workload in the place of
/// an operator, in a pass that times nothing, coverage or profile, and stores them as measure_build
/// does. Errors: as of measure_build.
Result<std::vector<Observed>> observe_build(comparison::Services&, storage::Id build,
                                            const comparison::Plan&, Pass, std::stop_token stop);
/// The same for some of the plan's benchmarks, with the runner of the whole plan.
Result<std::vector<Observed>> observe_build(comparison::Services&, storage::Id build,
                                            const comparison::Plan&, const std::vector<Benchmark>&,
                                            Pass, std::stop_token stop);

}  // namespace torchwatch::measurement
