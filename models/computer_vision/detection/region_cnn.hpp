#pragma once

#include <memory>
#include <vector>

#include "feature_pyramid.hpp"
#include "region_proposal_network.hpp"
#include "roi_heads.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

using PyramidBackboneImpl = FPNImpl<LastLevelMaxPool>;
TORCH_MODULE(PyramidBackbone);

/// The maps that regions are cropped from.
enum class FeatureKind {
  c4,   ///< the third stage; the fourth one runs on each crop
  dc5,  ///< the fourth stage, dilated
  fpn,  ///< a pyramid over all stages
};

struct RegionCnnShape {
  FeatureKind kind = FeatureKind::fpn;
  ResNetShape backbone;
  int pyramid = 256;  ///< channels of the pyramid
  RpnShape proposals;
  HeadShape heads;
  std::int64_t sampled = 512;  ///< regions of an image that are trained
};

struct TrainingImages {
  torch::Tensor pixels;  ///< images, 3, height, width
  std::vector<GroundTruth> truths;
  std::vector<std::vector<Polygon>> outlines;
};

/// Colours as the network takes them: blue, green and red in 0..255, less their means.
inline torch::Tensor mean_colour() {
  return torch::tensor({103.53F, 116.28F, 123.675F}).view({3, 1, 1});
}

inline ImageSize size_of(const torch::Tensor& images) {
  return {.height = images.size(2), .width = images.size(3)};
}

/// Proposes regions, then says what is in them.
struct GeneralizedRCNNImpl : nn::Module {
  explicit GeneralizedRCNNImpl(const RegionCnnShape& shape) : shape_(shape) {
    if (shape.kind == FeatureKind::fpn) {
      pyramid_ = register_module(
          "backbone", PyramidBackbone(shape.backbone, 0, shape.pyramid, LastLevelMaxPool()));
    } else {
      single_ = register_module("backbone", ResNet(shape.backbone));
    }
    proposals_ = register_module("proposal_generator", RPN(shape.proposals));
    if (shape.kind == FeatureKind::c4) {
      heads_ = register_module("roi_heads", Res5ROIHeads(shape.heads));
    } else {
      heads_ = register_module("roi_heads", StandardROIHeads(shape.heads));
    }
    pixel_mean_ = register_buffer("pixel_mean", mean_colour());
    pixel_std_ = register_buffer("pixel_std", torch::ones({3, 1, 1}));
    keep_features_even(*this);
  }

  std::vector<Instances> detect(const torch::Tensor& images) {
    const auto image = size_of(images);
    const auto features = features_of(images);
    const auto boxes = proposals_->propose(proposals_->predict(features),
                                           proposals_->anchors(features), image, false);
    return heads_->detect(cropped_from(features), boxes, image);
  }

  /// The losses' sum.
  torch::Tensor loss(const TrainingImages& images) {
    const auto features = features_of(images.pixels);
    const auto predictions = proposals_->predict(features);
    const auto anchors = proposals_->anchors(features);
    const auto found = proposals_->losses(predictions, anchors, images.truths);
    const auto boxes =
        proposals_->propose(predictions, anchors, size_of(images.pixels), /*for_training=*/true);
    std::vector<SampledRegions> regions;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      regions.push_back(
          sampled_regions(boxes[i], images.truths[i], shape_.sampled, shape_.heads.classes));
    }
    return heads_->loss(cropped_from(features), regions, images.outlines) + found.objectness +
           found.place;
  }

  /// A forward with as many proposals and detections as are given, wherever they lie.
  void run_on(const torch::Tensor& image, const torch::Tensor& proposals,
              const torch::Tensor& detections) {
    const auto features = features_of(image);
    proposals_->predict(features);
    heads_->predict_boxes(cropped_from(features), {proposals});
    if (heads_->masks) heads_->predict_masks(cropped_from(features), {detections});
  }

 private:
  Features features_of(const torch::Tensor& images) {
    const auto x = (images - pixel_mean_) / pixel_std_;
    if (pyramid_) return pyramid_(x);
    return {single_(x).back()};
  }

  /// The pyramid's coarsest level is for proposals only.
  static Features cropped_from(const Features& features) {
    if (features.size() == 1) return features;
    return {features.begin(), features.end() - 1};
  }

  RegionCnnShape shape_;
  PyramidBackbone pyramid_{nullptr};
  ResNet single_{nullptr};
  RPN proposals_{nullptr};
  std::shared_ptr<ROIHeadsImpl> heads_;
  torch::Tensor pixel_mean_, pixel_std_;
};
TORCH_MODULE(GeneralizedRCNN);

}  // namespace torchwatch::models::detection
