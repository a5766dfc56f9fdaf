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

/// A build, and the machine classes on which a benchmark of it was measured that another class has,
/// too.
struct BuildOnClasses {
  Id build = 0;
  std::vector<Id> classes = {};  ///< at least two, by id
};

/// Returns the machine classes, by id.
Result<std::vector<MachineClass>> machine_classes(Database&);
/// Returns what runs of a build have measured of that metric, by benchmark and class.
Result<std::vector<ClassValues>> values_by_class(Database&, Id build, Metric);

/// How many comparisons are searched for builds that several classes have measured.
inline constexpr int kComparisonsSearched = 100;
/// Returns the builds whose time was measured on several classes, by the newest comparisons; the
/// newest build first.
Result<std::vector<BuildOnClasses>> builds_on_classes(Database&);

}  // namespace torchwatch::storage
