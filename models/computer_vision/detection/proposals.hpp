#pragma once

#include <vector>

#include "../parts/nms.hpp"
#include "boxes.hpp"
#include "sampling.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// A proposal network's predictions for the anchors of each level: logits (images, anchors) and
/// shifts (images, anchors, 4).
struct AnchorPredictions {
  std::vector<torch::Tensor> logits;
  std::vector<torch::Tensor> deltas;
};

/// Reorders convolutions' outputs (images, anchors per cell (x 4), height, width) by anchor.
inline AnchorPredictions by_anchor(const std::vector<torch::Tensor>& logits,
                                   const std::vector<torch::Tensor>& deltas) {
  AnchorPredictions flat;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    flat.logits.push_back(logits[i].permute({0, 2, 3, 1}).flatten(1));
    const auto& x = deltas[i];
    flat.deltas.push_back(
        x.view({x.size(0), -1, 4, x.size(2), x.size(3)}).permute({0, 3, 4, 1, 2}).flatten(1, 3));
  }
  return flat;
}

struct ProposalRule {
  std::int64_t before_nms = 1000;  ///< per level
  std::int64_t after_nms = 1000;   ///< per image
  double smallest_side = 0;        ///< exclusive
  double overlap = 0.7;
  bool by_probability = false;  ///< ranked by probabilities in place of logits
};

/// The best boxes of each image, best first, as proposals without gradients.
inline std::vector<torch::Tensor> best_proposals(const AnchorPredictions& predictions,
                                                 const std::vector<torch::Tensor>& anchors,
                                                 const BoxCoder& coder, const ImageSize& image,
                                                 const ProposalRule& rule) {
  const torch::NoGradGuard no_gradients;
  const auto images = predictions.logits.front().size(0);
  std::vector<torch::Tensor> boxes;
  std::vector<torch::Tensor> logits;
  std::vector<torch::Tensor> levels;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const auto& level = predictions.logits[i];
    const auto count = std::min(level.size(1), rule.before_nms);
    const auto [best, where] = level.topk(count, 1);
    const auto all =
        coder.decode(predictions.deltas[i].reshape({-1, 4}), anchors[i].repeat({images, 1}));
    boxes.push_back(all.view({images, -1, 4}).gather(1, where.unsqueeze(-1).expand({-1, -1, 4})));
    logits.push_back(rule.by_probability ? best.sigmoid() : best);
    levels.push_back(torch::full({count}, static_cast<std::int64_t>(i), where.options()));
  }
  const auto all_boxes = clipped(torch::cat(boxes, 1), image);
  const auto all_logits = torch::cat(logits, 1);
  const auto all_levels = torch::cat(levels);
  std::vector<torch::Tensor> proposals;
  for (std::int64_t i = 0; i < images; ++i) {
    const auto large = larger_than(all_boxes[i], rule.smallest_side).nonzero().squeeze(1);
    const auto candidates = all_boxes[i].index_select(0, large);
    const auto kept = batched_nms(candidates, all_logits[i].index_select(0, large),
                                  all_levels.index_select(0, large), rule.overlap);
    proposals.push_back(candidates.index_select(0, kept.slice(0, 0, rule.after_nms)));
  }
  return proposals;
}

/// Which anchors of an image are trained, and towards which box.
struct AnchorTargets {
  torch::Tensor labels;  ///< 1 found, 0 background, -1 not sampled
  torch::Tensor boxes;
};

inline AnchorTargets anchor_targets(const torch::Tensor& anchors, const torch::Tensor& truth,
                                    std::int64_t sampled) {
  const torch::NoGradGuard no_gradients;
  const auto matches = match(overlaps(truth, anchors),
                             {.background_below = 0.3, .found_from = 0.7, .keep_best = true});
  const auto sample = draw_sample(matches.labels, sampled, 0.5);
  const auto labels = torch::full_like(matches.labels, -1)
                          .index_fill_(0, sample.found, 1)
                          .index_fill_(0, sample.background, 0);
  return {.labels = labels, .boxes = truth.index_select(0, matches.truth)};
}

}  // namespace torchwatch::models::detection
