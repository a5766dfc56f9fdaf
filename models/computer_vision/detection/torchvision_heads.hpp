#pragma once

#include <vector>

#include "../parts/nms.hpp"
#include "../parts/roi_align.hpp"
#include "box_predictor.hpp"
#include "boxes.hpp"
#include "mask_head.hpp"
#include "region_pooler.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection::torchvision {

namespace nn = torch::nn;

using Features = std::vector<torch::Tensor>;
using BoxLists = std::vector<torch::Tensor>;  ///< boxes of each image

/// The background is class 0.
constexpr std::int64_t kClasses = 91;

struct HeadShape {
  int channels = 256;
  int fc = 1024;
  int mask = 256;
  std::int64_t sampled = 512;  ///< regions of an image that are trained
};

/// The objects that an image really shows, with masks (N, height, width).
struct Target {
  GroundTruth truth;
  torch::Tensor masks;
};

/// The objects found in one image, with masks (N, 1, M, M) of probabilities.
struct Found {
  Detections boxes;
  torch::Tensor masks;
};

/// Two fully connected layers over a crop.
struct TwoMLPHeadImpl : nn::Module {
  TwoMLPHeadImpl(int channels, int width)
      : fc6(register_module("fc6", nn::Linear(std::int64_t{49} * channels, width))),
        fc7(register_module("fc7", nn::Linear(width, width))) {}

  torch::Tensor forward(const torch::Tensor& crops) {
    return torch::relu(fc7(torch::relu(fc6(crops.flatten(1)))));
  }

  nn::Linear fc6, fc7;
};
TORCH_MODULE(TwoMLPHead);

struct FastRCNNPredictorImpl : nn::Module {
  explicit FastRCNNPredictorImpl(int width)
      : cls_score(register_module("cls_score", nn::Linear(width, kClasses))),
        bbox_pred(register_module("bbox_pred", nn::Linear(width, 4 * kClasses))) {
    prefer_some(cls_score->bias.slice(0, 1), 3);
  }

  RegionPredictions forward(const torch::Tensor& x) {
    const auto logits = cls_score(x);
    return {.logits = logits, .deltas = bbox_pred(x)};
  }

  nn::Linear cls_score, bbox_pred;
};
TORCH_MODULE(FastRCNNPredictor);

inline void draw_for_relu(const torch::Tensor& weight) {
  nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
}

/// Four convolutions, each in a list of its own as the original nests them.
struct MaskRCNNHeadsImpl : nn::ModuleListImpl {
  MaskRCNNHeadsImpl(int from, int width) {
    for (int i = 0; i < 4; ++i) {
      nn::Conv2d layer(nn::Conv2dOptions(from, width, 3).padding(1));
      draw_for_relu(layer->weight);
      nn::init::zeros_(layer->bias);
      push_back(nn::Sequential(layer, nn::ReLU(nn::ReLUOptions(/*inplace=*/true))));
      from = width;
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (const auto& layer : *this) x = layer->as<nn::Sequential>()->forward(x);
    return x;
  }
};
TORCH_MODULE(MaskRCNNHeads);

struct MaskRCNNPredictorImpl : nn::Module {
  explicit MaskRCNNPredictorImpl(int width)
      : conv5_mask(register_module(
            "conv5_mask",
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, width, 2).stride(2)))),
        mask_fcn_logits(
            register_module("mask_fcn_logits", nn::Conv2d(nn::Conv2dOptions(width, kClasses, 1)))) {
    draw_for_relu(conv5_mask->weight);
    draw_for_relu(mask_fcn_logits->weight);
  }

  torch::Tensor forward(const torch::Tensor& x) { return mask_fcn_logits(conv5_mask(x).relu_()); }

  nn::ConvTranspose2d conv5_mask;
  nn::Conv2d mask_fcn_logits;
};
TORCH_MODULE(MaskRCNNPredictor);

/// The true masks, cropped as the features are.
inline torch::Tensor cropped_masks(const std::vector<SampledRegions>& objects,
                                   const std::vector<Target>& targets, std::int64_t side) {
  std::vector<torch::Tensor> crops;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto& each = objects[i];
    const auto rois = torch::cat({each.truth.unsqueeze(1).to(each.boxes.dtype()), each.boxes}, 1);
    const auto masks = targets[i].masks.unsqueeze(1).to(each.boxes.dtype());
    crops.push_back(roi_align(masks, rois, {.output = side, .aligned = false}).squeeze(1));
  }
  return torch::cat(crops);
}

/// Says what is in regions: classes, better boxes, masks.
struct RoIHeadsImpl : nn::Module {
  explicit RoIHeadsImpl(const HeadShape& head_shape)
      : shape(head_shape),
        box_head(register_module("box_head", TwoMLPHead(shape.channels, shape.fc))),
        box_predictor(register_module("box_predictor", FastRCNNPredictor(shape.fc))),
        mask_head(register_module("mask_head", MaskRCNNHeads(shape.channels, shape.mask))),
        mask_predictor(register_module("mask_predictor", MaskRCNNPredictor(shape.mask))) {}

  RegionPredictions predict_boxes(const Features& features, const BoxLists& boxes) {
    return box_predictor(box_head(crops(features, boxes, 7)));
  }

  torch::Tensor predict_masks(const Features& features, const BoxLists& boxes) {
    return mask_predictor(mask_head(crops(features, boxes, 14)));
  }

  std::vector<Found> detect(const Features& features, const BoxLists& proposals,
                            const ImageSize& image) {
    const auto predictions = predict_boxes(features, proposals);
    const auto boxes = coder.decode(predictions.deltas, torch::cat(proposals));
    const auto scores = torch::softmax(predictions.logits, -1);
    std::vector<Found> found;
    BoxLists found_boxes;
    std::vector<torch::Tensor> classes;
    std::int64_t first = 0;
    for (const auto& each : proposals) {
      const auto end = first + each.size(0);
      found.push_back(
          {.boxes = best_of(boxes.slice(0, first, end), scores.slice(0, first, end), image),
           .masks = {}});
      found_boxes.push_back(found.back().boxes.boxes);
      classes.push_back(found.back().boxes.classes);
      first = end;
    }
    const auto masks = predict_masks(features, found_boxes).sigmoid();
    auto rest = masks_of(masks, torch::cat(classes)).unsqueeze(1);
    for (auto& each : found) {
      const auto count = each.boxes.boxes.size(0);
      each.masks = rest.slice(0, 0, count);
      rest = rest.slice(0, count);
    }
    return found;
  }

  /// The sum of the losses of classes, boxes and masks.
  torch::Tensor loss(const Features& features, const BoxLists& proposals,
                     const std::vector<Target>& targets) {
    std::vector<SampledRegions> regions;
    std::vector<SampledRegions> objects;
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      regions.push_back(
          sampled_regions(proposals[i], targets[i].truth, shape.sampled, kBackground));
      objects.push_back(objects_of(regions.back(), kBackground));
    }
    return box_loss(predict_boxes(features, boxes_of(regions)), regions) +
           mask_loss(predict_masks(features, boxes_of(objects)), objects, targets);
  }

  static torch::Tensor crops(const Features& features, const BoxLists& boxes, std::int64_t output) {
    return pooled(features, boxes, {.output = output, .sampling = 2, .aligned = false});
  }

  static constexpr std::int64_t kBackground = 0;
  HeadShape shape;
  BoxCoder coder{{10, 10, 5, 5}};
  TwoMLPHead box_head;
  FastRCNNPredictor box_predictor;
  MaskRCNNHeads mask_head;
  MaskRCNNPredictor mask_predictor;

 private:
  static BoxLists boxes_of(const std::vector<SampledRegions>& regions) {
    BoxLists boxes;
    for (const auto& each : regions) boxes.push_back(each.boxes);
    return boxes;
  }

  static torch::Tensor classes_of(const std::vector<SampledRegions>& regions) {
    std::vector<torch::Tensor> classes;
    for (const auto& each : regions) classes.push_back(each.classes);
    return torch::cat(classes);
  }

  static Detections best_of(const torch::Tensor& boxes, const torch::Tensor& scores,
                            const ImageSize& image) {
    constexpr double kScore = 0.05;
    constexpr double kSide = 1e-2;
    constexpr double kOverlap = 0.5;
    constexpr std::int64_t kMost = 100;
    const auto each = clipped(boxes.view({-1, kClasses, 4}), image).slice(1, 1).reshape({-1, 4});
    const auto of_objects = scores.slice(1, 1).reshape(-1);
    const auto labels =
        torch::arange(1, kClasses, each.options().dtype(torch::kInt64)).repeat({scores.size(0)});
    const auto sure = (of_objects > kScore).nonzero().squeeze(1);
    const auto large =
        sure.index_select(0, larger_than(each.index_select(0, sure), kSide).nonzero().squeeze(1));
    const auto kept = large.index_select(
        0, batched_nms(each.index_select(0, large), of_objects.index_select(0, large),
                       labels.index_select(0, large), kOverlap)
               .slice(0, 0, kMost));
    return {.boxes = each.index_select(0, kept),
            .scores = of_objects.index_select(0, kept),
            .classes = labels.index_select(0, kept)};
  }

  torch::Tensor box_loss(const RegionPredictions& predictions,
                         const std::vector<SampledRegions>& regions) const {
    std::vector<torch::Tensor> goals;
    for (const auto& each : regions) goals.push_back(coder.encode(each.boxes, each.truth_boxes));
    const auto labels = classes_of(regions);
    const auto found = (labels != kBackground).nonzero().squeeze(1);
    const auto deltas =
        predictions.deltas.view({-1, kClasses, 4}).index({found, labels.index_select(0, found)});
    const auto place = torch::smooth_l1_loss(deltas, torch::cat(goals).index_select(0, found),
                                             at::Reduction::Sum, 1.0 / 9);
    return nn::functional::cross_entropy(predictions.logits, labels) +
           place / static_cast<double>(labels.size(0));
  }

  static torch::Tensor mask_loss(const torch::Tensor& logits,
                                 const std::vector<SampledRegions>& objects,
                                 const std::vector<Target>& targets) {
    if (logits.size(0) == 0) return logits.sum() * 0;
    return torch::binary_cross_entropy_with_logits(masks_of(logits, classes_of(objects)),
                                                   cropped_masks(objects, targets, logits.size(2)));
  }
};
TORCH_MODULE(RoIHeads);

}  // namespace torchwatch::models::detection::torchvision
