#pragma once

#include <vector>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::terminal {

/// Whether a series has a ratio of its two sides: what failed or is not supported has none.
bool ran_on_both(const storage::VerdictRow&);

/// The geometric mean of a metric's ratios.
struct GeometricMean {
  Metric metric = Metric::time;
  double ratio = 1;
  int benchmarks = 0;  ///< that ran on both sides
};

/// Returns one for each metric of which a series ran on both sides, in the order of the rows.
std::vector<GeometricMean> geometric_means(const std::vector<storage::VerdictRow>&);

}  // namespace torchwatch::terminal
