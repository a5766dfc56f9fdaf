#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchwatch/runs/class_values.hpp"

namespace torchwatch::machines {

/// What a build takes on one machine, divided by what it takes on another one.
struct Ratio {
  double ratio = 1;
  double low = 1;  ///< of the interval of 95 %
  double high = 1;
};

/// A benchmark that ran on both machines.
struct Compared {
  Benchmark benchmark = {};
  double a = 0;  ///< median
  double b = 0;
  Ratio ratio = {};  ///< b / a
  std::size_t runs_a = 0;
  std::size_t runs_b = 0;
};

struct SideBySide {
  std::vector<Compared> benchmarks = {};  ///< in the order of their ratios
  Ratio mean = {};                        ///< the geometric mean of them all
  std::vector<Benchmark> only_a = {};
  std::vector<Benchmark> only_b = {};
};

/// Compares the values of a build on two machine classes. Runs on two machines make no pairs, so
/// the intervals come from resampling the runs of each side by itself, and are as wide as runs
/// scatter. With fewer than three runs on a side there is no interval: it is infinite. Pure: equal
/// values give equal intervals.
SideBySide side_by_side(const std::vector<storage::ClassValues>& values, storage::Id a,
                        storage::Id b);

}  // namespace torchwatch::machines
