#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::detect {

/// A confirmed change of one comparison.
struct Change {
  Series series;
  double effect = 0;  ///< log-ratio; of what has no ratio, the difference
};

/// The changes that become one incident.
struct Group {
  IncidentKind kind = IncidentKind::regression;
  std::vector<std::size_t> members;  ///< indices into the changes, largest effect first
};

/// Groups a comparison's regressions by what probably changed together: times of workloads, times
/// of operators, peaks, leaks and outputs apart, devices apart. A bisection may split a group
/// later. Improvements (effect not above 0) are left out.
std::vector<Group> group(std::span<const Change> changes);

}  // namespace torchwatch::detect
