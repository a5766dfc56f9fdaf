#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::detect {

/// A confirmed change of one night.
struct Change {
  Target target;
  double effect = 0;  ///< log-ratio; for leaks bytes per iteration or bytes
};

struct Group {
  IncidentKind kind = IncidentKind::regression;
  std::vector<std::size_t> members;  ///< indices into the changes, largest effect first
};

/// The night's regressions by what changed together, as far as one night can tell: times, peaks
/// and leaks apart, devices apart. A search may split a group later. Changes for the better (effect
/// not above 0) are in no group.
std::vector<Group> group(std::span<const Change> changes);

}  // namespace torchwatch::detect
