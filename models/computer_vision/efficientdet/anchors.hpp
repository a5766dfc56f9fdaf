#pragma once

#include <cmath>
#include <vector>

#include "../detection/boxes.hpp"
#include "layout.hpp"

// Boxes of anchors and of what is to be found are rows of top, left, bottom, right.
namespace torchwatch::models::efficientdet {

/// Half the height and half the width of each anchor of a cell, in strides.
inline torch::Tensor anchor_halves() {
  constexpr double kBase = 4.0;
  constexpr int kOctaves = 3;
  constexpr std::array<std::array<double, 2>, 3> kAspects{{{1.0, 1.0}, {1.4, 0.7}, {0.7, 1.4}}};
  std::vector<double> halves;
  for (int octave = 0; octave < kOctaves; ++octave) {
    const double size = kBase * std::exp2(static_cast<double>(octave) / kOctaves);
    for (const auto& [x, y] : kAspects) {
      halves.push_back(size * y / 2);
      halves.push_back(size * x / 2);
    }
  }
  return torch::tensor(halves, torch::kFloat64).view({kAnchors, 2});
}

/// All levels' anchors (N, 4): by level, row, column and form.
inline torch::Tensor anchors_of(std::int64_t image) {
  std::vector<torch::Tensor> levels;
  for (const auto side : sides_of(image)) {
    const double stride = static_cast<double>(image) / static_cast<double>(side);
    const auto centres = (torch::arange(side, torch::kFloat64) + 0.5) * stride;
    const auto grid = torch::meshgrid({centres, centres}, "ij");
    const auto places = torch::stack({grid[0], grid[1]}, -1).view({-1, 1, 2});
    const auto halves = anchor_halves() * stride;
    levels.push_back(torch::cat({places - halves, places + halves}, -1).view({-1, 4}));
  }
  return torch::cat(levels).to(torch::kFloat32);
}

/// The network's targets for a batch, level by level; all of them float32, as the original
/// converts them.
struct Labels {
  std::vector<torch::Tensor> classes;  ///< (B, side, side, anchors); -1: nothing there
  std::vector<torch::Tensor> boxes;    ///< (B, side, side, 4 anchors); 0: nothing there
  torch::Tensor positives;             ///< (B): anchors that match something
};

/// Which of `boxes` each anchor is to find; -1: none. An anchor takes the box that it overlaps
/// most, by half at least; and each box has the anchor that fits it best.
inline torch::Tensor match(const torch::Tensor& anchors, const torch::Tensor& boxes) {
  constexpr double kEnough = 0.5;
  const auto overlap = detection::overlaps(boxes, anchors);
  const auto [most, nearest] = overlap.max(0);
  const auto matches = nearest.masked_fill(most < kEnough, -1);
  const auto best = overlap.argmax(1).unsqueeze(1);
  const auto is_best = torch::zeros_like(overlap, torch::kBool).scatter_(1, best, true);
  const auto [forced, box] = is_best.max(0);
  return torch::where(forced, box, matches);
}

/// `boxes` (B, M, 4) and `classes` (B, M) are what is to be found in `image`.
inline Labels label(std::int64_t image, const torch::Tensor& boxes, const torch::Tensor& classes) {
  const auto anchors = anchors_of(image);
  const detection::BoxCoder coder({1, 1, 1, 1});
  std::vector<torch::Tensor> all_classes;
  std::vector<torch::Tensor> all_boxes;
  std::vector<torch::Tensor> positives;
  for (std::int64_t i = 0; i < boxes.size(0); ++i) {
    const auto matches = match(anchors, boxes[i]);
    const auto matched = matches >= 0;
    const auto row = matches.clamp_min(0);
    const auto codes = coder.encode(anchors, boxes[i].index_select(0, row));
    all_classes.push_back(classes[i].index_select(0, row).masked_fill(~matched, -1));
    all_boxes.push_back(codes.masked_fill(~matched.unsqueeze(1), 0));
    positives.push_back(matched.to(torch::kFloat32).sum());
  }

  Labels labels;
  labels.positives = torch::stack(positives);
  const auto class_rows = torch::stack(all_classes).to(torch::kFloat32);
  const auto box_rows = torch::stack(all_boxes);
  std::int64_t first = 0;
  for (const auto side : sides_of(image)) {
    const auto count = side * side * kAnchors;
    const std::vector<std::int64_t> shape{boxes.size(0), side, side, -1};
    labels.classes.push_back(class_rows.narrow(1, first, count).reshape(shape));
    labels.boxes.push_back(box_rows.narrow(1, first, count).reshape(shape));
    first += count;
  }
  return labels;
}

}  // namespace torchwatch::models::efficientdet
