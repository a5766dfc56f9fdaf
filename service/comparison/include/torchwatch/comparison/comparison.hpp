#pragma once

#include <stop_token>

#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/comparison/schedule.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::comparison {

/// A comparison on its way through its stages: its row, and its plan, parsed once. The plan is
/// empty until the comparison is prepared.
struct Comparison {
  storage::ComparisonRow row;
  Plan plan;

  /// Reads the plan of a stored comparison. Errors: corrupt.
  static Result<Comparison> of(storage::ComparisonRow);
};

/// The two builds of a comparison, ready to be measured.
struct ComparedBuilds {
  MeasurableBuild baseline;
  MeasurableBuild candidate;

  /// Checks both builds and makes their runners. Errors: conflict, when a build's files have
  /// changed since they were checked; of the kits.
  static Result<ComparedBuilds> prepare(Services&, const Comparison&, std::stop_token stop);
};

/// Checks a build and makes its runner for that comparison. Errors: as ComparedBuilds::prepare.
Status try_build(Services&, const Comparison&, storage::Id build, std::stop_token stop);

/// Returns the schedule of the comparison after its stored runs. Errors: of storage.
Result<Schedule> replay(Services&, const Comparison&);

/// Makes all runs that the comparison's schedule still needs. Errors: of storage, cancelled,
/// unavailable (no process could be started).
Status measure(Services&, const Comparison&, const ComparedBuilds&, std::stop_token stop);

}  // namespace torchwatch::comparison
