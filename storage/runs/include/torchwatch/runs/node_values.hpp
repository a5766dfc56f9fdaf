#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// A comparison that was measured on nodes of a cluster.
struct ComparisonOnNodes {
  Id comparison = 0;
  std::vector<std::string> nodes = {};
};

/// What a comparison measured of one build in one benchmark on one node.
struct NodeValues {
  Id machine_class = 0;
  std::string node = {};
  Id build = 0;
  Id benchmark = 0;
  std::vector<std::int64_t> values = {};  ///< times of its runs, ns, the oldest first
};

/// Returns the comparisons of two builds, or of one with itself, that were measured on nodes since
/// as many nightlies were opened, the newest first. A comparison counts once it is measured whole.
Result<std::vector<ComparisonOnNodes>> comparisons_on_nodes(Database&, int nightlies);
/// Returns what a comparison measured, by class, node, build and benchmark.
Result<std::vector<NodeValues>> node_values_of(Database&, Id comparison);

}  // namespace torchwatch::storage
