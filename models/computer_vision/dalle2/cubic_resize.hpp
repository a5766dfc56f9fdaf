#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {
namespace cubic_resize_detail {

/// Keys' cubic with the parameter -1/2.
inline double cubic(double x) {
  const double distance = std::abs(x);
  if (distance <= 1) return (1.5 * distance - 2.5) * distance * distance + 1;
  if (distance <= 2) return ((-0.5 * distance + 2.5) * distance - 4) * distance + 2;
  return 0;
}

/// The input positions, which may lie outside, and their weights for each output position of one
/// dimension.
struct Taps {
  std::int64_t count = 0;  ///< per output position
  std::vector<std::int64_t> positions;
  std::vector<float> weights;
};

inline Taps taps_of(std::int64_t from, std::int64_t to) {
  constexpr double kTiny = 1.1920929e-07;  // of float32, for supports that end on a pixel
  const double scale = static_cast<double>(to) / static_cast<double>(from);
  const double stretch = std::min(scale, 1.0);  // a wider kernel where the image shrinks
  const double support = 4 / stretch;
  Taps taps;
  taps.count = static_cast<std::int64_t>(std::ceil(support - kTiny));
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = static_cast<double>(i) / scale + static_cast<double>(from - 1) / 2 -
                          static_cast<double>(to - 1) / (2 * scale);
    const auto first = static_cast<std::int64_t>(std::ceil(centre - support / 2 - kTiny));
    double sum = 0;
    for (std::int64_t j = first; j < first + taps.count; ++j) {
      sum += cubic(stretch * (centre - static_cast<double>(j)));
    }
    for (std::int64_t j = first; j < first + taps.count; ++j) {
      taps.positions.push_back(j);
      const double weight = cubic(stretch * (centre - static_cast<double>(j)));
      taps.weights.push_back(static_cast<float>(weight / sum));
    }
  }
  return taps;
}

inline torch::Tensor resize_dimension(const torch::Tensor& images, std::int64_t dimension,
                                      std::int64_t to) {
  auto taps = taps_of(images.size(dimension), to);
  const auto before = std::max<std::int64_t>(0, -taps.positions.front());
  const auto after = std::max<std::int64_t>(0, taps.positions.back() - images.size(dimension) + 1);
  for (auto& position : taps.positions) position += before;
  const auto lines =
      torch::constant_pad_nd(images.transpose(dimension, 0), {0, 0, 0, 0, 0, 0, before, after});
  const auto positions = torch::tensor(taps.positions).view({to, taps.count});
  const auto weights = torch::tensor(taps.weights).view({to, taps.count, 1, 1, 1});
  const auto neighbours = lines.index({positions.to(images.device())});
  return (neighbours * weights.to(images.device())).sum(1).transpose(0, dimension);
}

}  // namespace cubic_resize_detail

/// Images (batch, channels, rows, columns) at another size, both sides scaled alike: cubic,
/// smoothed where they shrink, with zeros outside.
inline torch::Tensor cubic_resize(const torch::Tensor& images, std::int64_t rows,
                                  std::int64_t columns) {
  const auto tall = cubic_resize_detail::resize_dimension(images, 2, rows);
  return cubic_resize_detail::resize_dimension(tall, 3, columns);
}

}  // namespace torchwatch::models
