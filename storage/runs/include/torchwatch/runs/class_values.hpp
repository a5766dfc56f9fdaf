#pragma once

#include <vector>

#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::storage {

/// The values of one build in a series on one machine class.
struct ClassValues {
  Benchmark benchmark = {};
  Id machine_class = 0;
  std::vector<std::int64_t> values = {};  ///< of runs, the newest first
};

/// Returns the machine classes, by id.
Result<std::vector<MachineClass>> machine_classes(Database&);
/// Returns what runs of a build have measured of that metric, by benchmark and class.
Result<std::vector<ClassValues>> values_by_class(Database&, Id build, Metric);

}  // namespace torchwatch::storage
