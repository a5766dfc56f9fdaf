#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torchwatch/comparison/schedule.hpp"

namespace torchwatch::test {

/// What a run on a node says: its values, or that it failed.
using NodeScript = std::function<storage::RunRow(const comparison::Block&, comparison::Side,
                                                 const std::string& node)>;

/// A nightly's comparison that is dealt over nodes as the service does it, with its own schedule
/// and its own verdicts, but without a process: a script says what each run measured.
struct SpreadNight {
  comparison::Plan plan;  ///< with the timing pass alone
  comparison::SeriesSettings settings;
  std::vector<double> seconds;  ///< that a block of each benchmark takes
  NodeScript script;
  /// Whether the node dies in a block; asked once for each. The first pair of that block stays.
  std::function<bool()> is_lost = [] { return false; };

  struct Outcome {
    std::vector<comparison::JudgedSeries> judged;
    int runs = 0;
    int moved = 0;  ///< benchmarks with runs of more than one node
  };
  /// Measures on that many nodes until every series has its verdict.
  Outcome measure(int nodes, std::uint64_t seed) const;
};

}  // namespace torchwatch::test
