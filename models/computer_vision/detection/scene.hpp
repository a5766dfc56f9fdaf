#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "boxes.hpp"
#include "polygon_mask.hpp"
#include "torchwatch/models/draw.hpp"

namespace torchwatch::models::detection {

/// Objects in each drawn image; COCO has seven on average.
constexpr std::int64_t kObjects = 8;
/// Corners of a drawn outline.
constexpr std::int64_t kCorners = 16;

/// An image's objects: boxes of a tenth to half of its sides, anywhere inside, and their classes.
inline GroundTruth drawn_truth(Draw& draw, const ImageSize& image, std::int64_t classes) {
  const auto u = draw.uniform({kObjects, 4});
  const auto span = [&u](std::int64_t which, std::int64_t length) {
    const auto whole = static_cast<double>(length);
    const auto size = (0.1 + 0.4 * u.select(1, which)) * whole;
    const auto low = u.select(1, which + 1) * (whole - size);
    return std::pair(low, low + size);
  };
  const auto [left, right] = span(0, image.width);
  const auto [top, bottom] = span(2, image.height);
  return {.boxes = torch::stack({left, top, right, bottom}, 1),
          .classes = draw.integers(classes, {kObjects})};
}

/// An outline within each box, by drawn distances from its centre of 0.6 to 1 of half its sides.
inline std::vector<Polygon> drawn_outlines(Draw& draw, const torch::Tensor& boxes) {
  const auto radii = 0.6 + 0.4 * draw.uniform({boxes.size(0), kCorners});
  const auto* radius = radii.data_ptr<float>();
  const auto* box = boxes.data_ptr<float>();
  std::vector<Polygon> outlines;
  for (std::int64_t i = 0; i < boxes.size(0); ++i, box += 4) {
    Polygon outline;
    for (std::int64_t corner = 0; corner < kCorners; ++corner) {
      const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(corner) / kCorners;
      const float reach = *radius++ / 2;
      outline.push_back({.x = (box[0] + box[2]) / 2 + reach * (box[2] - box[0]) * std::cos(angle),
                         .y = (box[1] + box[3]) / 2 + reach * (box[3] - box[1]) * std::sin(angle)});
    }
    outlines.push_back(std::move(outline));
  }
  return outlines;
}

}  // namespace torchwatch::models::detection
