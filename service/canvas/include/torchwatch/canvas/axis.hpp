#pragma once

#include <string>
#include <vector>

#include "torchwatch/canvas/svg.hpp"

namespace torchwatch::drawing {

/// From values to places, both in order; what lies outside is put at the nearer end.
struct Scale {
  double low = 0;
  double high = 1;
  double begin = 0;
  double end = 1;

  double at(double value) const;
  bool holds(double value) const { return low <= value && value <= high; }
};

/// A scale of the values with a margin, also where they are all equal, or none.
Scale scale_over(const std::vector<double>& values, double begin, double end);

/// Round values on a scale, at most `most`, in the units that people know of the metric.
std::vector<double> ticks(const Scale&, std::size_t most, Metric);

/// The same on a scale of the logarithms of values: 1, 2 and 5 times powers of ten, of sizes powers
/// of two; where they would be too few, round values as on any scale.
std::vector<double> logarithmic_ticks(const Scale& of_logarithms, std::size_t most, Metric);

/// A scale of changes: equal factors are equal distances. Holds 1 and the threshold either way.
class ChangeScale {
 public:
  ChangeScale(std::vector<double> ratios, double threshold, double begin, double end);

  double at(double ratio) const;
  bool holds(double ratio) const;
  /// Round changes, at most `most`.
  std::vector<double> ticks(std::size_t most) const;

 private:
  Scale logarithms_;
};

/// Draws the ticks of a scale below `y`, with lines up to `top`.
void draw_ticks(Svg&, const ChangeScale&, double top, double y, std::size_t most);
void draw_ticks(Svg&, const Scale&, Metric, double top, double y, std::size_t most);

}  // namespace torchwatch::drawing
