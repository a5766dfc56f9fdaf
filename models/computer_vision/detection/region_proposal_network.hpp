#pragma once

#include <vector>

#include "anchors.hpp"
#include "proposals.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// Predicts objectness and shift of each anchor, by convolutions that all levels share.
struct StandardRPNHeadImpl : torch::nn::Module {
  StandardRPNHeadImpl(int channels, std::int64_t anchors)
      : conv(register_module("conv", convolution(channels, channels, 3))),
        logits(register_module("objectness_logits", convolution(channels, anchors, 1))),
        deltas(register_module("anchor_deltas", convolution(channels, 4 * anchors, 1))) {}

  AnchorPredictions forward(const std::vector<torch::Tensor>& features) {
    std::vector<torch::Tensor> all_logits;
    std::vector<torch::Tensor> all_deltas;
    for (const auto& level : features) {
      const auto hidden = torch::relu(conv(level));
      all_logits.push_back(logits(hidden));
      all_deltas.push_back(deltas(hidden));
    }
    return by_anchor(all_logits, all_deltas);
  }

  static torch::nn::Conv2d convolution(std::int64_t from, std::int64_t to, int kernel) {
    torch::nn::Conv2d layer(torch::nn::Conv2dOptions(from, to, kernel).padding(kernel / 2));
    torch::nn::init::normal_(layer->weight, 0, 0.01);
    torch::nn::init::zeros_(layer->bias);
    return layer;
  }

  torch::nn::Conv2d conv, logits, deltas;
};
TORCH_MODULE(StandardRPNHead);

struct RpnShape {
  int channels = 256;
  std::vector<std::vector<double>> sides;  ///< the anchors', level by level
  std::vector<double> strides;
  ProposalRule train;
  ProposalRule infer;
  std::int64_t sampled = 256;  ///< anchors of an image that are trained
};

struct RpnLosses {
  torch::Tensor objectness;
  torch::Tensor place;
};

/// Proposes regions that may hold an object.
struct RPNImpl : torch::nn::Module {
  explicit RPNImpl(const RpnShape& shape)
      : shape_(shape),
        head_(register_module(
            "rpn_head",
            StandardRPNHead(shape.channels, static_cast<std::int64_t>(3 * shape.sides[0].size())))),
        anchors_(
            register_module("anchor_generator",
                            DefaultAnchorGenerator(shape.sides, std::vector<double>{0.5, 1.0, 2.0},
                                                   shape.strides))) {}

  AnchorPredictions predict(const std::vector<torch::Tensor>& features) { return head_(features); }

  std::vector<torch::Tensor> anchors(const std::vector<torch::Tensor>& features) {
    return anchors_(features);
  }

  std::vector<torch::Tensor> propose(const AnchorPredictions& predictions,
                                     const std::vector<torch::Tensor>& anchors,
                                     const ImageSize& image, bool for_training) const {
    return best_proposals(predictions, anchors, coder_, image,
                          for_training ? shape_.train : shape_.infer);
  }

  RpnLosses losses(const AnchorPredictions& predictions, const std::vector<torch::Tensor>& anchors,
                   const std::vector<GroundTruth>& truths) const {
    const auto all = torch::cat(anchors);
    std::vector<torch::Tensor> labels;
    std::vector<torch::Tensor> goals;
    for (const auto& truth : truths) {
      const auto targets = anchor_targets(all, truth.boxes, shape_.sampled);
      labels.push_back(targets.labels);
      goals.push_back(coder_.encode(all, targets.boxes));
    }
    const auto label = torch::stack(labels);
    const auto found = label == 1;
    const auto sampled = label >= 0;
    const auto deltas = torch::cat(predictions.deltas, 1).index({found});
    const auto distance = (deltas - torch::stack(goals).index({found})).abs().sum();
    const auto entropy = torch::binary_cross_entropy_with_logits(
        torch::cat(predictions.logits, 1).index({sampled}),
        label.index({sampled}).to(torch::kFloat32), {}, {}, at::Reduction::Sum);
    const auto count = static_cast<double>(shape_.sampled) * static_cast<double>(truths.size());
    return {.objectness = entropy / count, .place = distance / count};
  }

 private:
  RpnShape shape_;
  BoxCoder coder_{{1, 1, 1, 1}};
  StandardRPNHead head_;
  DefaultAnchorGenerator anchors_;
};
TORCH_MODULE(RPN);

}  // namespace torchwatch::models::detection
