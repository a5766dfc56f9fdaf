#pragma once

#include <optional>
#include <vector>

#include "../parts/nms.hpp"
#include "boxes.hpp"
#include "sampling.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// Regions of one image that are trained.
struct SampledRegions {
  torch::Tensor boxes;
  torch::Tensor classes;  ///< the background is the last one
  torch::Tensor truth;    ///< index of the ground truth
  torch::Tensor truth_boxes;
};

/// Proposals and the true boxes themselves, of which `count` are drawn, a quarter of them objects.
inline SampledRegions sampled_regions(const torch::Tensor& proposals, const GroundTruth& truth,
                                      std::int64_t count, std::int64_t background) {
  const torch::NoGradGuard no_gradients;
  const auto boxes = torch::cat({proposals, truth.boxes});
  const auto matches = match(overlaps(truth.boxes, boxes), MatchRule{});
  const auto classes =
      truth.classes.index_select(0, matches.truth).masked_fill(matches.labels == 0, background);
  const auto sample = draw_sample(matches.labels, count, 0.25).all();
  const auto of_truth = matches.truth.index_select(0, sample);
  return {.boxes = boxes.index_select(0, sample),
          .classes = classes.index_select(0, sample),
          .truth = of_truth,
          .truth_boxes = truth.boxes.index_select(0, of_truth)};
}

/// The objects found in one image, best first.
struct Detections {
  torch::Tensor boxes;
  torch::Tensor scores;
  torch::Tensor classes;
};

/// Sets the biases of every twentieth class. The published weights, which random ones replace, are
/// sure enough of some regions to find objects in them; so are these, whatever the seed.
inline void prefer_some(const torch::Tensor& biases, double bias) {
  const torch::NoGradGuard no_gradients;
  biases.slice(0, 0, std::nullopt, 20).fill_(bias);
}

struct RegionPredictions {
  torch::Tensor logits;  ///< regions x (classes + background)
  torch::Tensor deltas;  ///< regions x 4 classes
};

struct BoxLosses {
  torch::Tensor classes;
  torch::Tensor place;
};

/// Predicts the class of each region, and a better box for each class.
struct FastRCNNOutputLayersImpl : torch::nn::Module {
  FastRCNNOutputLayersImpl(std::int64_t features, std::int64_t classes)
      : classes_(classes),
        scores_(register_module("cls_score", torch::nn::Linear(features, classes + 1))),
        deltas_(register_module("bbox_pred", torch::nn::Linear(features, 4 * classes))) {
    torch::nn::init::normal_(scores_->weight, 0, 0.01);
    torch::nn::init::normal_(deltas_->weight, 0, 0.001);
    torch::nn::init::zeros_(scores_->bias);
    torch::nn::init::zeros_(deltas_->bias);
    prefer_some(scores_->bias.slice(0, 0, classes), 3);
  }

  RegionPredictions forward(const torch::Tensor& features) {
    const auto flat = features.dim() > 2 ? features.flatten(1) : features;
    const auto logits = scores_(flat);
    return {.logits = logits, .deltas = deltas_(flat)};
  }

  BoxLosses losses(const RegionPredictions& predictions,
                   const std::vector<SampledRegions>& images) const {
    std::vector<torch::Tensor> boxes;
    std::vector<torch::Tensor> classes;
    std::vector<torch::Tensor> goals;
    for (const auto& each : images) {
      boxes.push_back(each.boxes);
      classes.push_back(each.classes);
      goals.push_back(each.truth_boxes);
    }
    const auto label = torch::cat(classes);
    const auto found = (label < classes_).nonzero().squeeze(1);
    const auto deltas =
        predictions.deltas.view({-1, classes_, 4}).index({found, label.index_select(0, found)});
    const auto goal = coder_.encode(torch::cat(boxes).index_select(0, found),
                                    torch::cat(goals).index_select(0, found));
    return {.classes = torch::nn::functional::cross_entropy(predictions.logits, label),
            .place = (deltas - goal).abs().sum() / static_cast<double>(label.size(0))};
  }

  std::vector<Detections> detect(const RegionPredictions& predictions,
                                 const std::vector<torch::Tensor>& proposals,
                                 const ImageSize& image) const {
    const auto boxes = coder_.decode(predictions.deltas, torch::cat(proposals));
    const auto scores = torch::softmax(predictions.logits, -1);
    std::vector<Detections> found;
    std::int64_t first = 0;
    for (const auto& of_image : proposals) {
      const auto end = first + of_image.size(0);
      found.push_back(best_of(boxes.slice(0, first, end), scores.slice(0, first, end), image));
      first = end;
    }
    return found;
  }

 private:
  Detections best_of(const torch::Tensor& boxes, const torch::Tensor& scores,
                     const ImageSize& image) const {
    constexpr double kScore = 0.05;
    constexpr double kOverlap = 0.5;
    constexpr std::int64_t kMost = 100;
    const auto each = clipped(boxes.view({-1, classes_, 4}), image);
    const auto of_objects = scores.slice(1, 0, classes_);
    const auto sure = of_objects > kScore;
    const auto classes = sure.nonzero().select(1, 1);
    const auto candidates = each.index({sure});
    const auto candidate_scores = of_objects.index({sure});
    const auto kept =
        batched_nms(candidates, candidate_scores, classes, kOverlap).slice(0, 0, kMost);
    return {.boxes = candidates.index_select(0, kept),
            .scores = candidate_scores.index_select(0, kept),
            .classes = classes.index_select(0, kept)};
  }

  std::int64_t classes_;
  BoxCoder coder_{{10, 10, 5, 5}};
  torch::nn::Linear scores_, deltas_;
};
TORCH_MODULE(FastRCNNOutputLayers);

}  // namespace torchwatch::models::detection
