#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "torchwatch/models/torch.hpp"

// Boxes are rows of left, top, right, bottom, in pixels.
namespace torchwatch::models::detection {

struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

inline torch::Tensor widths(const torch::Tensor& boxes) {
  return boxes.select(-1, 2) - boxes.select(-1, 0);
}

inline torch::Tensor heights(const torch::Tensor& boxes) {
  return boxes.select(-1, 3) - boxes.select(-1, 1);
}

inline torch::Tensor areas(const torch::Tensor& boxes) {
  return widths(boxes) * heights(boxes);
}

inline torch::Tensor clipped(const torch::Tensor& boxes, const ImageSize& image) {
  const auto width = static_cast<double>(image.width);
  const auto height = static_cast<double>(image.height);
  return torch::stack({boxes.select(-1, 0).clamp(0, width), boxes.select(-1, 1).clamp(0, height),
                       boxes.select(-1, 2).clamp(0, width), boxes.select(-1, 3).clamp(0, height)},
                      -1);
}

/// Which boxes have sides longer than `side`.
inline torch::Tensor larger_than(const torch::Tensor& boxes, double side) {
  return (widths(boxes) > side).logical_and_(heights(boxes) > side);
}

inline torch::Tensor scaled(const torch::Tensor& boxes, const ImageSize& from,
                            const ImageSize& to) {
  const double x = static_cast<double>(to.width) / static_cast<double>(from.width);
  const double y = static_cast<double>(to.height) / static_cast<double>(from.height);
  return torch::stack({boxes.select(-1, 0) * x, boxes.select(-1, 1) * y, boxes.select(-1, 2) * x,
                       boxes.select(-1, 3) * y},
                      -1);
}

/// Intersection over union of each of `a` (rows) with each of `b` (columns).
inline torch::Tensor overlaps(const torch::Tensor& a, const torch::Tensor& b) {
  const auto mine = a.unsqueeze(1);
  const auto low = torch::max(mine.slice(2, 0, 2), b.slice(1, 0, 2));
  const auto high = torch::min(mine.slice(2, 2, 4), b.slice(1, 2, 4));
  const auto sides = (high - low).clamp_min(0);
  const auto shared = sides.select(2, 0) * sides.select(2, 1);
  const auto either = areas(a).unsqueeze(1) + areas(b) - shared;
  return torch::where(shared > 0, shared / either, torch::zeros({}, shared.options()));
}

/// Boxes as shifts of the centre and logarithms of scales against other boxes, each weighted.
class BoxCoder {
 public:
  explicit BoxCoder(std::array<double, 4> weights) : weights_(weights) {}

  torch::Tensor encode(const torch::Tensor& from, const torch::Tensor& to) const {
    const auto width = widths(from);
    const auto height = heights(from);
    const auto to_width = widths(to);
    const auto to_height = heights(to);
    const auto x = from.select(1, 0) + 0.5 * width;
    const auto y = from.select(1, 1) + 0.5 * height;
    const auto to_x = to.select(1, 0) + 0.5 * to_width;
    const auto to_y = to.select(1, 1) + 0.5 * to_height;
    return torch::stack(
        {weights_[0] * (to_x - x) / width, weights_[1] * (to_y - y) / height,
         weights_[2] * torch::log(to_width / width), weights_[3] * torch::log(to_height / height)},
        1);
  }

  /// `deltas` (N, 4 k) hold k boxes for each of `from` (N, 4).
  torch::Tensor decode(const torch::Tensor& deltas, const torch::Tensor& from) const {
    const auto width = widths(from).unsqueeze(1);
    const auto height = heights(from).unsqueeze(1);
    const auto x = from.slice(1, 0, 1) + 0.5 * width;
    const auto y = from.slice(1, 1, 2) + 0.5 * height;
    const auto part = [&](std::int64_t i) {
      return deltas.slice(1, i, std::nullopt, 4) / weights_[static_cast<std::size_t>(i)];
    };
    // A box of 16 pixels grows to 1,000 at most.
    const double limit = std::log(1000.0 / 16);
    const auto to_x = part(0) * width + x;
    const auto to_y = part(1) * height + y;
    const auto half_width = 0.5 * (part(2).clamp_max(limit).exp() * width);
    const auto half_height = 0.5 * (part(3).clamp_max(limit).exp() * height);
    return torch::stack(
               {to_x - half_width, to_y - half_height, to_x + half_width, to_y + half_height}, -1)
        .reshape(deltas.sizes());
  }

 private:
  std::array<double, 4> weights_;
};

/// The objects that one image really shows.
struct GroundTruth {
  torch::Tensor boxes;
  torch::Tensor classes;
};

/// Rows that begin with the number of their image, as a crop takes them.
inline torch::Tensor with_image_numbers(const std::vector<torch::Tensor>& boxes) {
  std::vector<torch::Tensor> rows;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto number =
        torch::full({boxes[i].size(0), 1}, static_cast<double>(i), boxes[i].options());
    rows.push_back(torch::cat({number, boxes[i]}, 1));
  }
  return torch::cat(rows);
}

}  // namespace torchwatch::models::detection
