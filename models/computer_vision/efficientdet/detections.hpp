#pragma once

#include "../parts/nms.hpp"
#include "loss.hpp"

namespace torchwatch::models::efficientdet {

/// The mapping of each image's boxes to the picture that it was made of.
struct Pictures {
  torch::Tensor scale;  ///< (B)
  torch::Tensor size;   ///< (B, 2): width, height
};

/// The best pairs of an anchor and a class, image by image.
struct Candidates {
  torch::Tensor logits;   ///< (B, N, 1)
  torch::Tensor codes;    ///< (B, N, 4)
  torch::Tensor anchors;  ///< (B, N), by number
  torch::Tensor classes;  ///< (B, N)
};

inline torch::Tensor in_rows(const std::vector<torch::Tensor>& maps, std::int64_t columns) {
  std::vector<torch::Tensor> rows;
  for (const auto& map : maps) {
    rows.push_back(map.permute({0, 2, 3, 1}).reshape({map.size(0), -1, columns}));
  }
  return torch::cat(rows, 1);
}

inline Candidates best_of(const Maps& maps) {
  constexpr std::int64_t kCandidates = 5000;
  const auto logits = in_rows(maps.classes, kClasses);
  const auto codes = in_rows(maps.boxes, 4);
  const auto best = std::get<1>(logits.reshape({logits.size(0), -1}).topk(kCandidates, 1));
  const auto anchors = best.floor_divide(kClasses);
  const auto classes = best.remainder(kClasses);
  const auto row = anchors.unsqueeze(2);
  return {
      .logits = logits.gather(1, row.expand({-1, -1, kClasses})).gather(2, classes.unsqueeze(2)),
      .codes = codes.gather(1, row.expand({-1, -1, 4})),
      .anchors = anchors,
      .classes = classes};
}

/// Boxes (left, top, right, bottom) of what the network says about anchors.
inline torch::Tensor decode(const torch::Tensor& codes, const torch::Tensor& anchors) {
  const auto side = anchors.split(1, 1);
  const auto code = codes.split(1, 1);
  const auto high = side[2] - side[0];
  const auto wide = side[3] - side[1];
  const auto half_high = code[2].exp() * high / 2;
  const auto half_wide = code[3].exp() * wide / 2;
  const auto y = code[0] * high + (side[0] + side[2]) / 2;
  const auto x = code[1] * wide + (side[1] + side[3]) / 2;
  return torch::cat({x - half_wide, y - half_high, x + half_wide, y + half_high}, 1);
}

/// The hundred best detections of an image (box, score, class from 1), filled up with zeros.
inline torch::Tensor detections_in(const Candidates& found, const torch::Tensor& anchors,
                                   const Pictures& pictures, std::int64_t image) {
  constexpr std::int64_t kMost = 100;
  constexpr double kSame = 0.5;
  const auto scale = pictures.scale[image];
  const auto limit = pictures.size[image] / scale;
  auto boxes = decode(found.codes[image], anchors.index_select(0, found.anchors[image]));
  boxes = boxes.clamp_min(0).min(torch::cat({limit, limit}));
  const auto scores = found.logits[image].sigmoid().squeeze(1);
  const auto classes = found.classes[image];
  const auto kept = batched_nms(boxes, scores, classes, kSame).slice(0, 0, kMost);

  const auto rows =
      torch::cat({boxes.index_select(0, kept) * scale, scores.index_select(0, kept).unsqueeze(1),
                  (classes.index_select(0, kept) + 1).unsqueeze(1)},
                 1);
  const auto missing = kMost - rows.size(0);
  if (missing == 0) return rows;
  return torch::cat({rows, torch::zeros({missing, rows.size(1)}, rows.options())});
}

inline torch::Tensor detections_of(const Maps& maps, const torch::Tensor& anchors,
                                   const Pictures& pictures) {
  const auto found = best_of(maps);
  std::vector<torch::Tensor> images;
  for (std::int64_t i = 0; i < found.logits.size(0); ++i) {
    images.push_back(detections_in(found, anchors, pictures, i));
  }
  return torch::stack(images);
}

}  // namespace torchwatch::models::efficientdet
