#pragma once

#include <cmath>
#include <vector>

#include "../parts/roi_align.hpp"
#include "boxes.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// The level of a pyramid for each box: 0 the finest, which has the stride 2^`finest`. A box of 224
/// pixels belongs to the level with the stride 16, one of twice the side to the next.
inline torch::Tensor pyramid_levels(const torch::Tensor& boxes, int finest, int levels) {
  const auto level = (4 + torch::log2(areas(boxes).sqrt() / 224.0 + 1e-8)).floor();
  return level.clamp(finest, finest + levels - 1).to(torch::kInt64) - finest;
}

struct PoolerShape {
  std::int64_t output = 7;
  int finest = 2;  ///< the finest level has the stride 2^finest
  std::int64_t sampling = 0;
  bool aligned = true;
};

/// Crops the boxes of all images from the levels they belong to.
inline torch::Tensor pooled(const std::vector<torch::Tensor>& levels,
                            const std::vector<torch::Tensor>& boxes, const PoolerShape& shape) {
  const auto rois = with_image_numbers(boxes);
  const auto crop = [&](std::size_t level, const torch::Tensor& of) {
    const double scale = std::ldexp(1.0, -shape.finest - static_cast<int>(level));
    return roi_align(levels[level], of,
                     {.output = shape.output,
                      .scale = scale,
                      .sampling = shape.sampling,
                      .aligned = shape.aligned});
  };
  if (levels.size() == 1) return crop(0, rois);
  const auto level_of =
      pyramid_levels(rois.slice(1, 1), shape.finest, static_cast<int>(levels.size()));
  auto crops = torch::zeros({rois.size(0), levels.front().size(1), shape.output, shape.output},
                            levels.front().options());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto mine = (level_of == static_cast<std::int64_t>(i)).nonzero().squeeze(1);
    crops.index_put_({mine}, crop(i, rois.index_select(0, mine)));
  }
  return crops;
}

}  // namespace torchwatch::models::detection
