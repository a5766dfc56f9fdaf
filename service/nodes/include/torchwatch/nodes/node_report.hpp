#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/detect/node_level.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::nodes {

/// A node of a cluster against the others of its machine class.
struct NodeReport {
  std::string node = {};
  detect::NodeLevel time = {};   ///< how long benchmarks take there
  detect::NodeLevel noise = {};  ///< how much the runs of a benchmark scatter there

  /// Whether its runs scatter more than the others': less is welcome.
  bool is_noisier() const { return noise.differs && noise.ratio > 1; }
};

/// The nodes of a machine class, by name.
struct ClassReport {
  storage::MachineClass machine_class = {};
  std::vector<NodeReport> nodes = {};
};

/// Compares the nodes of each class by what several of them measured of equal builds: in the newest
/// comparisons, back to the thirtieth nightly where nodes still lack items. A service that measured
/// on one node alone, or on none, has no class here. Errors: of storage.
Result<std::vector<ClassReport>> compare_nodes(storage::Database&);

/// Returns the nodes of a class; none where it has one alone, or is not known.
Result<std::vector<NodeReport>> nodes_of_class(storage::Database&,
                                               const std::optional<storage::MachineClass>&);

/// Makes the JSON list of a class's nodes. A stranger sees no names.
nlohmann::json json_of(const std::vector<NodeReport>&, bool is_trusted);

/// Returns a sentence for each node that differs: by how much, how sure that is, what to do. Of two
/// nodes nobody knows which is right, so only the slower one is named.
std::vector<std::string> complaints_about(const ClassReport&);

}  // namespace torchwatch::nodes
