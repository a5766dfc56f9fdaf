#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A box in fractions of the image's width and height.
struct TextBox {
  double left, top, right, bottom;
  double score;  ///< mean probability within, before the box was enlarged
};

namespace text_boxes_detail {

/// Inclusive.
struct Extent {
  std::int64_t left, top, right, bottom;

  void include(std::int64_t x, std::int64_t y) {
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
};

/// A bitmap with a margin of one cell, from which regions can be taken.
class Canvas {
 public:
  explicit Canvas(const torch::Tensor& bitmap)
      : high_(bitmap.size(0) + 2),
        wide_(bitmap.size(1) + 2),
        cells_(static_cast<std::size_t>(high_ * wide_), kEmpty) {
    const auto bytes = bitmap.to(torch::kUInt8).contiguous();
    const auto* row = bytes.data_ptr<std::uint8_t>();
    for (std::int64_t y = 1; y + 1 < high_; ++y, row += wide_ - 2) {
      for (std::int64_t x = 1; x + 1 < wide_; ++x) at(y * wide_ + x) = row[x - 1] ? kInk : kEmpty;
    }
  }

  /// The extents of all inked regions that do not lie within a hole of another.
  std::vector<Extent> regions() {
    flood(0, kEmpty, kOutside, straight());
    std::vector<Extent> found;
    const auto around = all_around();
    for (std::int64_t i = wide_; i < (high_ - 1) * wide_; ++i) {
      if (at(i) == kInk && touches_outside(i)) found.push_back(flood(i, kInk, kSeen, around));
    }
    return found;
  }

 private:
  enum Cell : char { kEmpty, kInk, kOutside, kSeen };

  Cell& at(std::int64_t i) { return cells_[static_cast<std::size_t>(i)]; }

  std::vector<std::int64_t> straight() const { return {-wide_, -1, 1, wide_}; }
  std::vector<std::int64_t> all_around() const {
    return {-wide_ - 1, -wide_, -wide_ + 1, -1, 1, wide_ - 1, wide_, wide_ + 1};
  }

  bool touches_outside(std::int64_t i) {
    return at(i - wide_) == kOutside || at(i - 1) == kOutside || at(i + 1) == kOutside ||
           at(i + wide_) == kOutside;
  }

  /// Turns the cells of kind `from` that are connected with `start` into `to`.
  Extent flood(std::int64_t start, Cell from, Cell to, const std::vector<std::int64_t>& steps) {
    const auto last = high_ * wide_;
    Extent extent{wide_, high_, 0, 0};
    std::vector<std::int64_t> open{start};
    at(start) = to;
    while (!open.empty()) {
      const auto cell = open.back();
      open.pop_back();
      extent.include(cell % wide_ - 1, cell / wide_ - 1);
      for (const auto step : steps) {
        const auto next = cell + step;
        if (next < 0 || next >= last || at(next) != from) continue;
        at(next) = to;
        open.push_back(next);
      }
    }
    return extent;
  }

  std::int64_t high_, wide_;
  std::vector<Cell> cells_;
};

/// Erosion, then dilation, with 3x3 cells: what is thinner than three disappears.
inline torch::Tensor open_up(const torch::Tensor& bitmap) {
  const auto image = bitmap.to(torch::kFloat32).unsqueeze(0);
  const auto eroded = -torch::max_pool2d(-image, 3, 1, 1);
  return torch::max_pool2d(eroded, 3, 1, 1).squeeze(0) > 0;
}

}  // namespace text_boxes_detail

/// Boxes around the text in a map (height x width, on the CPU) of the probability that a pixel
/// belongs to a text's core, for upright text: as differentiable binarisation is decoded. A core is
/// smaller than its text, so each box is enlarged by its area over its circumference.
inline std::vector<TextBox> text_boxes(const torch::Tensor& probabilities) {
  constexpr double kInked = 0.3;
  constexpr double kLowestScore = 0.1;
  constexpr double kEnlarge = 1.5;
  const auto high = probabilities.size(0);
  const auto wide = probabilities.size(1);
  const auto smallest = 1 + high / 512;

  text_boxes_detail::Canvas canvas(text_boxes_detail::open_up(probabilities >= kInked));
  std::vector<TextBox> boxes;
  for (const auto& core : canvas.regions()) {
    if (core.right - core.left < smallest || core.bottom - core.top < smallest) continue;
    // The original's corners lie one pixel beyond the core on the right and below.
    const auto right = core.right + 1;
    const auto bottom = core.bottom + 1;
    const auto within = probabilities.slice(0, core.top, std::min(bottom, high - 1) + 1)
                            .slice(1, core.left, std::min(right, wide - 1) + 1);
    const double score = within.mean().item<double>();
    if (score < kLowestScore) continue;

    const auto width = static_cast<double>(right - core.left);
    const auto height = static_cast<double>(bottom - core.top);
    const double more = width * height * kEnlarge / (2 * (width + height));
    const auto share = [](double pixels, std::int64_t of) {
      return std::clamp(pixels / static_cast<double>(of), 0.0, 1.0);
    };
    boxes.push_back({.left = share(std::round(static_cast<double>(core.left) - more), wide),
                     .top = share(std::round(static_cast<double>(core.top) - more), high),
                     .right = share(std::round(static_cast<double>(right) + more) + 1, wide),
                     .bottom = share(std::round(static_cast<double>(bottom) + more) + 1, high),
                     .score = score});
  }
  return boxes;
}

}  // namespace torchwatch::models
