#include "detection/detection_outputs.hpp"
#include "detection/region_cnn.hpp"
#include "detection/scene.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace {

using namespace detection;

/// One of the family.
struct Variant {
  FeatureKind kind = FeatureKind::fpn;
  int depth = 50;
  bool masks = false;
  /// The original's newer configuration: trains all of the network at a rate of 0, and one call
  /// runs over all batches of its data set.
  bool whole_set = false;
};

struct Size {
  ImageSizes image;
  int width = 64;  ///< channels of the stem
  int pyramid = 256;
  int fc = 1024;
  int mask = 256;
  std::int64_t sampled = 512;     ///< regions of an image that are trained
  std::int64_t proposals = 1000;  ///< per image; the network's other limits are multiples of it
  int batches = 100;              ///< per set
};
constexpr Size kPaper{.image = kPaperImage};
constexpr Size kSmall{.image = kSmallImage,
                      .width = 16,
                      .pyramid = 64,
                      .fc = 128,
                      .mask = 64,
                      .sampled = 32,
                      .proposals = 50,
                      .batches = 2};

/// Anchors of five sizes: one a level of the pyramid, or all of them everywhere.
RpnShape proposals_of(const Variant& variant, const Size& size, int channels) {
  const auto n = size.proposals;
  if (variant.kind == FeatureKind::fpn) {
    return {.channels = channels,
            .sides = {{32}, {64}, {128}, {256}, {512}},
            .strides = {4, 8, 16, 32, 64},
            .train = {.before_nms = 2 * n, .after_nms = n},
            .infer = {.before_nms = n, .after_nms = n}};
  }
  return {.channels = channels,
          .sides = {{32, 64, 128, 256, 512}},
          .strides = {16},
          .train = {.before_nms = 12 * n, .after_nms = 2 * n},
          .infer = {.before_nms = 6 * n, .after_nms = n}};
}

RegionCnnShape shape_of(const Variant& variant, const Size& size) {
  const bool pyramid = variant.kind == FeatureKind::fpn;
  const bool c4 = variant.kind == FeatureKind::c4;
  const int channels = pyramid ? size.pyramid : size.width * (c4 ? 16 : 32);
  return {.kind = variant.kind,
          .backbone = {.depth = variant.depth,
                       .width = size.width,
                       .stages = c4 ? 3 : 4,
                       .dilated = variant.kind == FeatureKind::dc5,
                       .frozen = !variant.whole_set},
          .pyramid = size.pyramid,
          .proposals = proposals_of(variant, size, channels),
          .heads = {.channels = channels,
                    .fc = size.fc,
                    .mask = variant.masks ? size.mask : 0,
                    .finest = pyramid ? 2 : 4},
          .sampled = size.sampled};
}

/// `count` boxes of a fifth of the image's sides, all over it.
torch::Tensor boxes_anywhere(std::int64_t count, const ImageSize& image, torch::Device device) {
  const auto at = torch::linspace(0, 0.8, count, torch::TensorOptions().device(device));
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  return torch::stack({at * width, at * height, (at + 0.2) * width, (at + 0.2) * height}, 1);
}

class RegionCnnWorkload final : public NetworkWorkload {
 public:
  RegionCnnWorkload(const Setup& setup, const Variant& variant)
      : NetworkWorkload(setup),
        variant_(variant),
        size_(setup.preset == Preset::paper ? kPaper : kSmall),
        network_(shape_of(variant, size_)) {
    adopt({network_.ptr()});
    const int batches = variant.whole_set ? size_.batches : 1;
    for (int i = 0; i < batches; ++i) batches_.push_back(drawn_batch(setup.batch));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::SGD>(
        parameters(), variant.whole_set
                          ? torch::optim::SGDOptions(0.0)
                          : torch::optim::SGDOptions(0.001).momentum(0.9).weight_decay(1e-4));
  }

  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    for (const auto& batch : batches_) outputs_of(batch);
  }

 protected:
  NamedTensors forward() override { return outputs_of(batches_.front()); }
  torch::Tensor loss() override { return loss_of(batches_.front()); }

  void counted_forward() override {
    const auto image = batches_.front().pixels.slice(0, 0, 1);
    network_->run_on(image, boxes_anywhere(1000, size_.image.seen, device()),
                     boxes_anywhere(100, size_.image.seen, device()));
  }

  /// The gradients are cleared after the forward, or after the step where a call runs over the
  /// whole set.
  void train_step() override {
    for (const auto& batch : batches_) {
      const auto value = loss_of(batch);
      if (!variant_.whole_set) optimizer_->zero_grad();
      value.backward();
      optimizer_->step();
      if (variant_.whole_set) optimizer_->zero_grad();
      last_loss_ = value.detach();
    }
  }

 private:
  TrainingImages drawn_batch(int images) {
    TrainingImages batch;
    batch.pixels = place(drawn_pixels(draw(), images, size_.image.seen));
    for (int i = 0; is_training() && i < images; ++i) {
      batch.truths.push_back(drawn_truth(draw(), size_.image.seen, HeadShape{}.classes));
      batch.outlines.push_back(drawn_outlines(draw(), batch.truths.back().boxes));
    }
    return batch;
  }

  /// The targets stay on the host and are moved in each call.
  torch::Tensor loss_of(const TrainingImages& batch) {
    auto moved = batch;
    for (auto& truth : moved.truths) {
      truth = {.boxes = place(truth.boxes), .classes = place(truth.classes)};
    }
    return network_->loss(moved);
  }

  NamedTensors outputs_of(const TrainingImages& batch) {
    NamedTensors outputs;
    const auto found = network_->detect(batch.pixels);
    for (std::size_t i = 0; i < found.size(); ++i) {
      show(found[i].boxes, found[i].masks, size_.image, i, found.size(), outputs);
    }
    return outputs;
  }

  Variant variant_;
  Size size_;
  GeneralizedRCNN network_;
  std::vector<TrainingImages> batches_;
};

template <Variant Which>
Definition definition(std::string_view task) {
  return {
      .domain = "computer vision",
      .task = task,
      .paper = {.train = 1, .infer = 1},
      .small = {.train = 1, .infer = 1},
      .runs_in_16_bits = !Which.masks,
      .cut =
          "image 128x160, 50 proposals of which 32 are trained, backbone and heads a quarter as "
          "wide",
      .build = [](const Setup& setup) -> std::unique_ptr<Workload> {
        return std::make_unique<RegionCnnWorkload>(setup, Which);
      }};
}

constexpr std::string_view kDetection = "object detection";
constexpr std::string_view kSegmentation = "image segmentation";

}  // namespace

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_101_c4) {
  return definition<Variant{.kind = FeatureKind::c4, .depth = 101}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_101_dc5) {
  return definition<Variant{.kind = FeatureKind::dc5, .depth = 101}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_101_fpn) {
  return definition<Variant{.kind = FeatureKind::fpn, .depth = 101}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_50_c4) {
  return definition<Variant{.kind = FeatureKind::c4}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_50_dc5) {
  return definition<Variant{.kind = FeatureKind::dc5}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_fasterrcnn_r_50_fpn) {
  return definition<Variant{.kind = FeatureKind::fpn}>(kDetection);
}

TORCHWATCH_DEFINE(detectron2_maskrcnn) {
  return definition<Variant{.kind = FeatureKind::fpn, .masks = true, .whole_set = true}>(
      kDetection);
}

TORCHWATCH_DEFINE(detectron2_maskrcnn_r_101_c4) {
  return definition<Variant{.kind = FeatureKind::c4, .depth = 101, .masks = true}>(kSegmentation);
}

TORCHWATCH_DEFINE(detectron2_maskrcnn_r_101_fpn) {
  return definition<Variant{.kind = FeatureKind::fpn, .depth = 101, .masks = true}>(kSegmentation);
}

TORCHWATCH_DEFINE(detectron2_maskrcnn_r_50_c4) {
  return definition<Variant{.kind = FeatureKind::c4, .masks = true}>(kSegmentation);
}

TORCHWATCH_DEFINE(detectron2_maskrcnn_r_50_fpn) {
  return definition<Variant{.kind = FeatureKind::fpn, .masks = true}>(kSegmentation);
}

}  // namespace torchwatch::models
