#include "detection/detection_outputs.hpp"
#include "detection/scene.hpp"
#include "detection/torchvision_backbone.hpp"
#include "detection/torchvision_heads.hpp"
#include "detection/torchvision_proposals.hpp"
#include "detection/torchvision_transform.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace vision_maskrcnn {

using namespace detection;
using namespace detection::torchvision;

struct Size {
  ImageSize picture = kPaperImage.shown;
  std::int64_t shortest = 800;  ///< side of a picture as the network sees it
  std::int64_t longest = 1333;
  int width = 64;  ///< channels of the stem
  int channels = 256;
  HeadShape heads;
  std::int64_t proposals = 1000;  ///< per image; twice as many in training
};
constexpr Size kPaper{};
constexpr Size kSmall{.picture = kSmallImage.shown,
                      .shortest = 128,
                      .longest = 213,
                      .width = 16,
                      .channels = 64,
                      .heads = {.channels = 64, .fc = 128, .mask = 64, .sampled = 32},
                      .proposals = 50};

/// `count` boxes of a fifth of the image's sides, all over it.
torch::Tensor boxes_anywhere(std::int64_t count, const torch::Tensor& image) {
  const auto at = torch::linspace(0, 0.8, count, image.options());
  const auto height = static_cast<double>(image.size(-2));
  const auto width = static_cast<double>(image.size(-1));
  return torch::stack({at * width, at * height, (at + 0.2) * width, (at + 0.2) * height}, 1);
}

/// Proposes regions, then says what is in them.
struct MaskRCNNImpl : nn::Module {
  explicit MaskRCNNImpl(const Size& size)
      : transform(size.shortest, size.longest),
        backbone(register_module("backbone", BackboneWithFPN(size.width, size.channels))),
        rpn(register_module("rpn", RegionProposalNetwork(size.channels, size.proposals))),
        roi_heads(register_module("roi_heads", RoIHeads(size.heads))) {}

  std::vector<Found> detect(const std::vector<torch::Tensor>& pictures) {
    const auto seen = see(pictures);
    const auto boxes =
        rpn->propose(rpn->head(seen.features), seen.anchors, seen.image, /*for_training=*/false);
    return roi_heads->detect(cropped_from(seen.features), boxes, seen.image);
  }

  /// The losses' sum. The targets are those of the pictures.
  torch::Tensor loss(const std::vector<torch::Tensor>& pictures,
                     const std::vector<Target>& targets) {
    const auto picture = torchvision::size_of(pictures.front());
    std::vector<Target> scaled_targets;
    std::vector<GroundTruth> truths;
    for (const auto& each : targets) {
      truths.push_back({.boxes = scaled(each.truth.boxes, picture, transform.seen(picture)),
                        .classes = each.truth.classes});
      scaled_targets.push_back({.truth = truths.back(), .masks = transform.masks(each.masks)});
    }
    const auto seen = see(pictures);
    const auto predictions = rpn->head(seen.features);
    const auto boxes = rpn->propose(predictions, seen.anchors, seen.image, /*for_training=*/true);
    const auto of_proposals = rpn->loss(predictions, seen.anchors, truths);
    return roi_heads->loss(cropped_from(seen.features), boxes, scaled_targets) + of_proposals;
  }

  /// A forward of one picture with as many proposals and detections, wherever they lie.
  void run_on(const torch::Tensor& picture, std::int64_t proposals, std::int64_t detections) {
    const auto images = Transform::batch({transform.image(picture)});
    const auto features = backbone(images);
    rpn->head(features);
    roi_heads->predict_boxes(cropped_from(features), {boxes_anywhere(proposals, images)});
    roi_heads->predict_masks(cropped_from(features), {boxes_anywhere(detections, images)});
  }

  Transform transform;
  BackboneWithFPN backbone;
  RegionProposalNetwork rpn;
  RoIHeads roi_heads;

 private:
  struct Seen {
    ImageSize image;  ///< without what fills it up
    Features features;
    std::vector<torch::Tensor> anchors;
  };

  Seen see(const std::vector<torch::Tensor>& pictures) {
    std::vector<torch::Tensor> images;
    for (const auto& picture : pictures) images.push_back(transform.image(picture));
    const auto batch = Transform::batch(images);
    const auto features = backbone(batch);
    return {.image = torchvision::size_of(images.front()),
            .features = features,
            .anchors = anchors_for(features, torchvision::size_of(batch))};
  }

  /// The coarsest level is for proposals only.
  static Features cropped_from(const Features& features) {
    return {features.begin(), features.end() - 1};
  }
};
TORCH_MODULE(MaskRCNN);

/// The pixels of a picture that lie within each outline: N, height, width.
torch::Tensor masks_of_outlines(const std::vector<Polygon>& outlines, const ImageSize& picture) {
  auto masks = torch::zeros(
      {static_cast<std::int64_t>(outlines.size()), picture.height, picture.width}, torch::kBool);
  auto* mask = masks.data_ptr<bool>();
  for (const auto& outline : outlines) {
    fill(outline, picture.height, picture.width, mask);
    mask += picture.height * picture.width;
  }
  return masks.to(torch::kUInt8);
}

class VisionMaskRcnnWorkload final : public NetworkWorkload {
 public:
  explicit VisionMaskRcnnWorkload(const Setup& setup)
      : NetworkWorkload(setup),
        size_(setup.preset == Preset::paper ? kPaper : kSmall),
        network_(size_) {
    adopt({network_.ptr()});
    for (int i = 0; i < setup.batch; ++i) {
      pictures_.push_back(place(draw().uniform({3, size_.picture.height, size_.picture.width})));
      if (is_training()) targets_.push_back(drawn_target());
    }
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::SGD>(
        parameters(), torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(1e-4));
  }

 protected:
  NamedTensors forward() override {
    NamedTensors outputs;
    const auto found = network_->detect(pictures_);
    const auto seen = network_->transform.seen(size_.picture);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto boxes = scaled(found[i].boxes.boxes, seen, size_.picture);
      const auto add = [&](const char* name, const torch::Tensor& tensor) {
        outputs.emplace_back(name_in(name, i, found.size()), tensor);
      };
      add("boxes", boxes);
      add("labels", found[i].boxes.classes);
      add("scores", found[i].boxes.scores);
      add("masks", pasted_soft(found[i].masks, boxes, size_.picture));
    }
    return outputs;
  }

  torch::Tensor loss() override { return network_->loss(pictures_, targets_); }

  void counted_forward() override { network_->run_on(pictures_.front(), 1000, 100); }

  /// The gradients are cleared after the forward.
  void train_step() override {
    const auto value = loss();
    optimizer_->zero_grad();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  Target drawn_target() {
    auto truth = drawn_truth(draw(), size_.picture, kClasses - 1);
    const auto masks = masks_of_outlines(drawn_outlines(draw(), truth.boxes), size_.picture);
    return {.truth = {.boxes = place(truth.boxes), .classes = place(truth.classes + 1)},
            .masks = place(masks)};
  }

  Size size_;
  MaskRCNN network_;
  std::vector<torch::Tensor> pictures_;
  std::vector<Target> targets_;
};

}  // namespace vision_maskrcnn

TORCHWATCH_DEFINE(vision_maskrcnn) {
  return {.domain = "computer vision",
          .task = "object detection",
          .paper = {.train = 4, .infer = 4},
          .small = {.train = 1, .infer = 1},
          .cut =
              "batch 1, picture 96x120 seen at 128x160, 50 proposals, 32 regions trained, backbone "
              "and heads a quarter as wide",
          .build = build_as<vision_maskrcnn::VisionMaskRcnnWorkload>};
}

}  // namespace torchwatch::models
