#pragma once

#include <algorithm>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

struct Point {
  float x = 0;
  float y = 0;
};

/// The outline of an object; it stays on the host, as the original's does.
using Polygon = std::vector<Point>;

/// The points at which an outline crosses the horizontal line `y`, from left to right.
inline std::vector<float> crossings(const Polygon& outline, float y) {
  std::vector<float> at;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point& a = outline[i];
    const Point& b = outline[(i + 1) % outline.size()];
    if ((a.y <= y) == (b.y <= y)) continue;
    at.push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
  }
  std::ranges::sort(at);
  return at;
}

/// Sets the cells of a raster whose centres lie within the outline.
inline void fill(const Polygon& outline, std::int64_t rows, std::int64_t columns, bool* raster) {
  for (std::int64_t row = 0; row < rows; ++row, raster += columns) {
    const auto at = crossings(outline, static_cast<float>(row) + 0.5F);
    for (std::size_t i = 0; i + 1 < at.size(); i += 2) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const float centre = static_cast<float>(column) + 0.5F;
        raster[column] = raster[column] || (at[i] <= centre && centre < at[i + 1]);
      }
    }
  }
}

/// The part of an outline within each box, as a raster of side x side cells: N, side, side, bool,
/// on the host. Box i belongs to outline `which[i]`.
inline torch::Tensor rasterized(const std::vector<Polygon>& outlines, const torch::Tensor& which,
                                const torch::Tensor& boxes, std::int64_t side) {
  const auto host_boxes = boxes.to(torch::kCPU).contiguous();
  const auto host_which = which.to(torch::kCPU).contiguous();
  auto rasters = torch::zeros({boxes.size(0), side, side}, torch::kBool);
  const auto* box = host_boxes.data_ptr<float>();
  const auto* outline_of = host_which.data_ptr<std::int64_t>();
  auto* raster = rasters.data_ptr<bool>();
  for (std::int64_t i = 0; i < boxes.size(0); ++i, box += 4, raster += side * side) {
    const float scale_x = static_cast<float>(side) / std::max(box[2] - box[0], 0.1F);
    const float scale_y = static_cast<float>(side) / std::max(box[3] - box[1], 0.1F);
    auto outline = outlines[static_cast<std::size_t>(outline_of[i])];
    for (auto& point : outline) {
      point = {.x = (point.x - box[0]) * scale_x, .y = (point.y - box[1]) * scale_y};
    }
    fill(outline, side, side, raster);
  }
  return rasters;
}

}  // namespace torchwatch::models::detection
