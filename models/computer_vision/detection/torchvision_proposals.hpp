#pragma once

#include <array>
#include <vector>

#include "anchors.hpp"
#include "proposals.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection::torchvision {

namespace nn = torch::nn;

/// Pixels between a level's cells, whole ones: a level that does not divide the image has less in
/// one direction.
inline std::vector<torch::Tensor> anchors_for(const std::vector<torch::Tensor>& features,
                                              const ImageSize& padded) {
  constexpr std::array<double, 5> kSides{32, 64, 128, 256, 512};
  std::vector<torch::Tensor> anchors;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto& level = features[i];
    const auto cell = cell_anchors({kSides[i]}, {0.5, 1.0, 2.0}).round().to(level.device());
    anchors.push_back(spread(cell, level.size(2), level.size(3),
                             static_cast<double>(padded.height / level.size(2)),
                             static_cast<double>(padded.width / level.size(3))));
  }
  return anchors;
}

inline nn::Conv2d shared_convolution(int from, int to, int kernel) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, kernel).padding(kernel / 2));
  nn::init::normal_(layer->weight, 0, 0.01);
  nn::init::zeros_(layer->bias);
  return layer;
}

/// Objectness and shift of three anchors a cell, by convolutions that all levels share.
struct RPNHeadImpl : nn::Module {
  explicit RPNHeadImpl(int channels)
      : conv(register_module("conv", nn::ModuleList())),
        logits(register_module("cls_logits", shared_convolution(channels, 3, 1))),
        deltas(register_module("bbox_pred", shared_convolution(channels, 12, 1))) {
    conv->push_back(nn::Sequential(shared_convolution(channels, channels, 3), nn::ReLU()));
  }

  AnchorPredictions forward(const std::vector<torch::Tensor>& features) {
    std::vector<torch::Tensor> all_logits;
    std::vector<torch::Tensor> all_deltas;
    for (const auto& level : features) {
      const auto hidden = conv[0]->as<nn::Sequential>()->forward(level);
      all_logits.push_back(logits(hidden));
      all_deltas.push_back(deltas(hidden));
    }
    return by_anchor(all_logits, all_deltas);
  }

  nn::ModuleList conv;
  nn::Conv2d logits, deltas;
};
TORCH_MODULE(RPNHead);

/// Proposes regions that may hold an object.
struct RegionProposalNetworkImpl : nn::Module {
  RegionProposalNetworkImpl(int channels, std::int64_t most)
      : head(register_module("head", RPNHead(channels))), proposals(most) {}

  std::vector<torch::Tensor> propose(const AnchorPredictions& predictions,
                                     const std::vector<torch::Tensor>& anchors,
                                     const ImageSize& image, bool for_training) const {
    const auto most = for_training ? 2 * proposals : proposals;
    return best_proposals(
        predictions, anchors, coder, image,
        {.before_nms = most, .after_nms = most, .smallest_side = 1e-3, .by_probability = true});
  }

  /// The sum of the losses of objectness and position.
  torch::Tensor loss(const AnchorPredictions& predictions,
                     const std::vector<torch::Tensor>& anchors,
                     const std::vector<GroundTruth>& truths) const {
    constexpr std::int64_t kSampled = 256;
    const auto all = torch::cat(anchors);
    std::vector<torch::Tensor> labels;
    std::vector<torch::Tensor> goals;
    for (const auto& truth : truths) {
      const auto targets = anchor_targets(all, truth.boxes, kSampled);
      labels.push_back(targets.labels);
      goals.push_back(coder.encode(all, targets.boxes));
    }
    const auto label = torch::stack(labels);
    const auto found = label == 1;
    const auto sampled = label >= 0;
    const auto logits = torch::cat(predictions.logits, 1).index({sampled});
    const auto place =
        torch::smooth_l1_loss(torch::cat(predictions.deltas, 1).index({found}),
                              torch::stack(goals).index({found}), at::Reduction::Sum, 1.0 / 9);
    return torch::binary_cross_entropy_with_logits(logits,
                                                   label.index({sampled}).to(torch::kFloat32)) +
           place / static_cast<double>(logits.size(0));
  }

  RPNHead head;
  std::int64_t proposals;  ///< per image
  BoxCoder coder{{1, 1, 1, 1}};
};
TORCH_MODULE(RegionProposalNetwork);

}  // namespace torchwatch::models::detection::torchvision
