#pragma once

#include <memory>
#include <vector>

#include "box_predictor.hpp"
#include "mask_head.hpp"
#include "region_pooler.hpp"
#include "residual_backbone.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

using Features = std::vector<torch::Tensor>;
using BoxLists = std::vector<torch::Tensor>;  ///< boxes of each image

struct HeadShape {
  int channels = 256;  ///< for the features
  int fc = 1024;       ///< width of the box head
  int mask = 256;      ///< width of the mask head; 0: no masks
  int classes = 80;
  int finest = 2;  ///< the finest level has the stride 2^finest
};

/// The objects found in one image, with masks (N, M, M) of probabilities if there is a mask head.
struct Instances {
  Detections boxes;
  torch::Tensor masks;
};

/// Predicts classes, better boxes and, with a mask head, masks of regions.
struct ROIHeadsImpl : nn::Module {
  virtual RegionPredictions predict_boxes(const Features& features, const BoxLists& boxes) = 0;

  /// Logits for all classes. Only where there is a mask head.
  virtual torch::Tensor predict_masks(const Features& features, const BoxLists& boxes) = 0;

  /// The sum of the losses of boxes and masks.
  virtual torch::Tensor loss(const Features& features, const std::vector<SampledRegions>& regions,
                             const std::vector<std::vector<Polygon>>& outlines) = 0;

  std::vector<Instances> detect(const Features& features, const BoxLists& proposals,
                                const ImageSize& image) {
    std::vector<Instances> found;
    BoxLists boxes;
    std::vector<torch::Tensor> classes;
    const auto predictions = predict_boxes(features, proposals);
    for (auto& each : predictor->detect(predictions, proposals, image)) {
      boxes.push_back(each.boxes);
      classes.push_back(each.classes);
      found.push_back({.boxes = std::move(each), .masks = {}});
    }
    if (!masks) return found;
    const auto all = masks_of(predict_masks(features, boxes), torch::cat(classes)).sigmoid();
    std::int64_t first = 0;
    for (auto& each : found) {
      const auto end = first + each.boxes.boxes.size(0);
      each.masks = all.slice(0, first, end);
      first = end;
    }
    return found;
  }

  FastRCNNOutputLayers predictor{nullptr};
  MaskRCNNConvUpsampleHead masks{nullptr};

 protected:
  static BoxLists boxes_of(const std::vector<SampledRegions>& regions) {
    BoxLists boxes;
    for (const auto& each : regions) boxes.push_back(each.boxes);
    return boxes;
  }

  static std::vector<SampledRegions> objects_of_all(const std::vector<SampledRegions>& regions,
                                                    std::int64_t background) {
    std::vector<SampledRegions> objects;
    for (const auto& each : regions) objects.push_back(objects_of(each, background));
    return objects;
  }
};

/// Two fully connected layers over a crop.
struct FastRCNNConvFCHeadImpl : nn::Module {
  FastRCNNConvFCHeadImpl(std::int64_t from, int width)
      : fc1(register_module("fc1", layer(from, width))),
        fc2(register_module("fc2", layer(width, width))) {}

  torch::Tensor forward(const torch::Tensor& crops) {
    return torch::relu(fc2(torch::relu(fc1(crops.flatten(1)))));
  }

  static nn::Linear layer(std::int64_t from, std::int64_t to) {
    nn::Linear linear(from, to);
    nn::init::kaiming_uniform_(linear->weight, 1);
    nn::init::zeros_(linear->bias);
    return linear;
  }

  nn::Linear fc1, fc2;
};
TORCH_MODULE(FastRCNNConvFCHead);

/// Crops for boxes and crops for masks, each with a head of its own.
struct StandardROIHeadsImpl : ROIHeadsImpl {
  explicit StandardROIHeadsImpl(const HeadShape& head_shape) : shape(head_shape) {
    box_head = register_module("box_head",
                               FastRCNNConvFCHead(std::int64_t{49} * shape.channels, shape.fc));
    predictor = register_module("box_predictor", FastRCNNOutputLayers(shape.fc, shape.classes));
    if (shape.mask == 0) return;
    masks = register_module("mask_head",
                            MaskRCNNConvUpsampleHead(shape.channels, shape.mask, 4, shape.classes));
  }

  RegionPredictions predict_boxes(const Features& features, const BoxLists& boxes) override {
    return predictor(box_head(pooled(features, boxes, {.output = 7, .finest = shape.finest})));
  }

  torch::Tensor predict_masks(const Features& features, const BoxLists& boxes) override {
    return masks(pooled(features, boxes, {.output = 14, .finest = shape.finest}));
  }

  torch::Tensor loss(const Features& features, const std::vector<SampledRegions>& regions,
                     const std::vector<std::vector<Polygon>>& outlines) override {
    const auto predictions = predict_boxes(features, boxes_of(regions));
    const auto losses = predictor->losses(predictions, regions);
    const auto sum = losses.classes + losses.place;
    if (!masks) return sum;
    const auto objects = objects_of_all(regions, shape.classes);
    return sum + mask_loss(predict_masks(features, boxes_of(objects)), objects, outlines);
  }

  HeadShape shape;
  FastRCNNConvFCHead box_head{nullptr};
};
TORCH_MODULE(StandardROIHeads);

/// Runs the last stage of the residual network on each crop; boxes and masks share it.
struct Res5ROIHeadsImpl : ROIHeadsImpl {
  explicit Res5ROIHeadsImpl(const HeadShape& head_shape) : shape(head_shape) {
    const int width = 2 * shape.channels;
    res5 = register_module(
        "res5", stage_of(3, BlockShape{.from = shape.channels, .to = width, .stride = 2}));
    predictor = register_module("box_predictor", FastRCNNOutputLayers(width, shape.classes));
    if (shape.mask == 0) return;
    masks =
        register_module("mask_head", MaskRCNNConvUpsampleHead(width, shape.mask, 0, shape.classes));
  }

  RegionPredictions predict_boxes(const Features& features, const BoxLists& boxes) override {
    return predictor(crops(features, boxes).mean({2, 3}));
  }

  torch::Tensor predict_masks(const Features& features, const BoxLists& boxes) override {
    return masks(crops(features, boxes));
  }

  torch::Tensor loss(const Features& features, const std::vector<SampledRegions>& regions,
                     const std::vector<std::vector<Polygon>>& outlines) override {
    const auto of_regions = crops(features, boxes_of(regions));
    const auto losses = predictor->losses(predictor(of_regions.mean({2, 3})), regions);
    const auto sum = losses.classes + losses.place;
    if (!masks) return sum;
    std::vector<torch::Tensor> classes;
    for (const auto& each : regions) classes.push_back(each.classes);
    const auto of_objects = of_regions.index({torch::cat(classes) != shape.classes});
    return sum + mask_loss(masks(of_objects), objects_of_all(regions, shape.classes), outlines);
  }

  torch::Tensor crops(const Features& features, const BoxLists& boxes) {
    return res5->forward(pooled(features, boxes, {.output = 14, .finest = shape.finest}));
  }

  HeadShape shape;
  nn::Sequential res5{nullptr};
};
TORCH_MODULE(Res5ROIHeads);

}  // namespace torchwatch::models::detection
