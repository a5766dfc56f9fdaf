#pragma once

#include "../parts/nms.hpp"
#include "network.hpp"

namespace torchwatch::models::yolov3 {

/// Boxes as their sides, one tensor each.
struct Sides {
  torch::Tensor left, top, right, bottom;
};

/// The four sides of boxes given by centre and size, (N, 4).
inline Sides sides_of(const torch::Tensor& boxes) {
  const auto value = [&boxes](std::int64_t i) { return boxes.select(1, i); };
  return {value(0) - value(2) / 2, value(1) - value(3) / 2, value(0) + value(2) / 2,
          value(1) + value(3) / 2};
}

/// Generalised intersection over union of boxes in pairs (arXiv 1902.09630).
inline torch::Tensor generalised_overlap(const Sides& a, const Sides& b) {
  constexpr double kTiny = 1e-16;
  const auto shared = (torch::min(a.right, b.right) - torch::max(a.left, b.left)).clamp_min(0) *
                      (torch::min(a.bottom, b.bottom) - torch::max(a.top, b.top)).clamp_min(0);
  const auto area_a = (a.right - a.left) * (a.bottom - a.top);
  const auto area_b = (b.right - b.left) * (b.bottom - b.top);
  const auto together = (area_a + kTiny) + area_b - shared;
  const auto width = torch::max(a.right, b.right) - torch::min(a.left, b.left);
  const auto height = torch::max(a.bottom, b.bottom) - torch::min(a.top, b.top);
  const auto hull = width * height + kTiny;
  return shared / together - (hull - together) / hull;
}

/// Intersection over union of all pairs of corner boxes.
inline torch::Tensor overlaps(const torch::Tensor& a, const torch::Tensor& b) {
  const auto area = [](const torch::Tensor& boxes) {
    return (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
  };
  const auto ends = torch::min(a.slice(1, 2, 4).unsqueeze(1), b.slice(1, 2, 4));
  const auto starts = torch::max(a.slice(1, 0, 2).unsqueeze(1), b.slice(1, 0, 2));
  const auto shared = (ends - starts).clamp_min(0).prod(2);
  return shared / (area(a).unsqueeze(1) + area(b) - shared);
}

/// Objects that belong to one head: each box for every anchor that fits it well.
struct Targets {
  torch::Tensor image, anchor, row, column;  ///< where the head has to see it
  torch::Tensor box;                         ///< centre within the cell and size, in cells
  torch::Tensor anchor_size;
  torch::Tensor label;
};

/// `objects`: image, class, centre and size as shares of the image, (N, 6).
inline Targets targets_of(const torch::Tensor& objects, const YOLOLayerImpl& head,
                          const torch::Tensor& map) {
  constexpr double kFit = 0.2;
  const auto rows = static_cast<float>(map.size(2));
  const auto columns = static_cast<float>(map.size(3));
  const auto gain = torch::tensor({1.F, 1.F, columns, rows, columns, rows}).to(objects.device());
  const auto count = objects.size(0);
  const auto scaled = objects * gain;
  const auto size = scaled.slice(1, 4, 6);
  const auto shared = torch::min(head.anchors.unsqueeze(1), size.unsqueeze(0)).prod(2);
  const auto fit = shared / (head.anchors.prod(1).unsqueeze(1) + size.prod(1) - shared) > kFit;

  const auto numbers = torch::arange(kAnchors, objects.options().dtype(torch::kInt64));
  Targets targets;
  targets.anchor = numbers.view({kAnchors, 1}).repeat({1, count}).index({fit});
  const auto chosen = scaled.repeat({kAnchors, 1, 1}).index({fit});
  const auto cell = chosen.slice(1, 2, 4).to(torch::kInt64);
  targets.image = chosen.select(1, 0).to(torch::kInt64);
  targets.label = chosen.select(1, 1).to(torch::kInt64);
  targets.column = cell.select(1, 0);
  targets.row = cell.select(1, 1);
  targets.box = torch::cat({chosen.slice(1, 2, 4) - cell, chosen.slice(1, 4, 6)}, 1);
  targets.anchor_size = head.anchors.index({targets.anchor});
  return targets;
}

/// The parts of the loss, each of one element.
struct Losses {
  torch::Tensor box, objectness, label;
};

/// Adds a head's share.
inline void add_losses(Losses& losses, const torch::Tensor& map, const Targets& targets) {
  using torch::indexing::Ellipsis;
  const auto certain = torch::ones({1}, map.options().requires_grad(false));
  const auto entropy = [&certain](const torch::Tensor& logits, const torch::Tensor& wanted) {
    return torch::binary_cross_entropy_with_logits(logits, wanted, /*weight=*/{},
                                                   /*pos_weight=*/certain);
  };
  auto is_object = torch::zeros_like(map.select(-1, 0));
  if (const auto count = targets.image.size(0); count > 0) {
    const auto seen = map.index({targets.image, targets.anchor, targets.row, targets.column});
    const auto centre = seen.slice(1, 0, 2).sigmoid();
    const auto size = seen.slice(1, 2, 4).exp().clamp_max(1e3) * targets.anchor_size;
    const auto overlap =
        generalised_overlap(sides_of(torch::cat({centre, size}, 1)), sides_of(targets.box));
    losses.box += (1.0 - overlap).mean();

    // The share of the overlap in the goal grows during training; at its start, where each
    // iteration of the original is, it is 0.
    constexpr double kShare = 0;
    is_object.index_put_({targets.image, targets.anchor, targets.row, targets.column},
                         (1.0 - kShare) + kShare * overlap.detach().clamp_min(0));

    auto wanted = torch::zeros_like(seen.slice(1, 5, kBoxValues));
    wanted.index_put_({torch::arange(count).to(map.device()), targets.label},
                      torch::ones({}, wanted.options()));
    losses.label += entropy(seen.slice(1, 5, kBoxValues), wanted);
  }
  losses.objectness += entropy(map.select(-1, 4), is_object);
}

/// One image's boxes, (M, 4 corners, score, class), of a head's output (N, values): certain enough,
/// of a sensible size, and none twice; a box that is kept is moved to the mean of its like.
inline torch::Tensor detections_of(const torch::Tensor& prediction) {
  constexpr double kCertain = 0.3;
  constexpr double kSame = 0.6;
  constexpr double kSmallest = 2;
  constexpr double kLargest = 4096;
  constexpr std::int64_t kMostToMerge = 3000;
  auto found = prediction.index({prediction.select(1, 4) > kCertain});
  const auto size = found.slice(1, 2, 4);
  found = found.index({((size > kSmallest) & (size < kLargest)).all(1)});
  if (found.size(0) == 0) return {};

  found.slice(1, 5, kBoxValues).mul_(found.slice(1, 4, 5));
  const auto sides = sides_of(found.slice(1, 0, 4));
  const auto corners = torch::stack({sides.left, sides.top, sides.right, sides.bottom}, 1);
  const auto [score, label] = found.slice(1, 5, kBoxValues).max(1);
  auto boxes = torch::cat({corners, score.unsqueeze(1), label.to(torch::kFloat32).unsqueeze(1)}, 1)
                   .index({score > kCertain});
  const auto count = boxes.size(0);
  if (count == 0) return {};

  // Boxes of different classes are moved apart, so that none suppresses another.
  const auto apart = boxes.slice(1, 0, 4) + boxes.slice(1, 5, 6) * kLargest;
  const auto scores = boxes.select(1, 4);
  const auto kept = nms(apart, scores, kSame);
  if (count > 1 && count < kMostToMerge) {
    const auto alike = overlaps(apart.index({kept}), apart) > kSame;
    const auto weights = alike * scores.unsqueeze(0);
    const auto merged = torch::mm(weights, boxes.slice(1, 0, 4)) / weights.sum(1, true);
    boxes.slice(1, 0, 4).index_put_({kept}, merged);
  }
  return boxes.index({kept});
}

}  // namespace torchwatch::models::yolov3
