#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace torchwatch::detect {

/// One build in one benchmark, measured on nodes of one machine class.
struct NodeItem {
  std::int64_t build = 0;                   ///< tells which items are of one build
  std::map<std::string, double> logs = {};  ///< ln of what each node measured; finite
};

/// A node against the other nodes of its machine class.
struct NodeLevel {
  std::string node = {};
  int items = 0;     ///< that other nodes measured, too
  int builds = 0;    ///< that those items are of
  double ratio = 1;  ///< what the node measures / what the others measure
  double low = 0;    ///< low end of the 99 % interval of the ratio; 0 with too few items
  double high = std::numeric_limits<double>::infinity();  ///< high end; infinity likewise
  bool differs = false;  ///< the whole interval lies beyond what nodes may differ by
};

/// A node may take 5 % more or less than the others: the times of one machine differ from nightly
/// to nightly by some per cent, and no verdict depends on it, as each ratio is of one node.
inline constexpr double kNodeTimeBeyond = 0.05;
/// Runs on a node may scatter twice as much as on the others. The two runs of a build that most
/// nightlies make say little of their spread: six times as much is nearly always found with 100
/// items, less takes more of them.
inline constexpr double kNodeNoiseBeyond = 1.0;
/// From twenty items on a difference of 10 % is always found, and equal nodes are never reported,
/// with runs that scatter by 2 % (tests/unit/detect/node_level_test.cpp).
inline constexpr int kNodeItemsLeast = 20;
/// Items of one build share the states in which the nodes were in its two nightlies, and resampling
/// items does not know that. With five builds states that differ by 2 % make no node differ (same
/// test); with three builds 3 nodes of 1,000 clusters did.
inline constexpr int kNodeBuildsLeast = 5;

/// Returns the level of each node of a class against the others, by name. What several nodes
/// measured is compared, by the median of the differences between two of them; the interval comes
/// from resampling whole items, as runs of one item share what was special about it. A node differs
/// when the interval lies beyond 1 + `beyond` or its inverse, with the least items and builds.
std::vector<NodeLevel> node_levels(std::span<const NodeItem>, double beyond);

}  // namespace torchwatch::detect
