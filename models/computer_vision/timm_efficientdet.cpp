#include "efficientdet/detections.hpp"
#include "efficientdet/network.hpp"
#include "parts/efficientnet.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_efficientdet {

namespace nn = torch::nn;
using efficientdet::kLevels;
using efficientdet::Labels;
using efficientdet::Maps;

constexpr int kPaperImage = 640;
constexpr int kSmallImage = 128;
constexpr std::int64_t kObjects = 8;  ///< to be found in an image; about what COCO's have

/// TensorFlow's EfficientNet-B1.
const timm::EfficientNetVariant& b1() {
  static const timm::EfficientNetVariant variant{.stages = {{1, 16, 3, 1, 2},
                                                            {6, 24, 3, 2, 3},
                                                            {6, 40, 5, 2, 3},
                                                            {6, 80, 3, 2, 4},
                                                            {6, 112, 5, 1, 4},
                                                            {6, 192, 5, 2, 5},
                                                            {6, 320, 3, 1, 2}},
                                                 .pads_as_tensorflow = true,
                                                 .norm_epsilon = 1e-3,
                                                 .drop_path = 0.2};
  return variant;
}

struct EfficientNetFeaturesImpl : timm::EfficientNetBody {
  EfficientNetFeaturesImpl() : timm::EfficientNetBody(b1()) { timm::spread_convolutions(*this); }

  /// The last maps of 80, 40 and 20 pixels a side, of an image of 640.
  std::vector<torch::Tensor> forward(const torch::Tensor& images) {
    std::vector<torch::Tensor> maps;
    auto x = stem(images);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      x = stages[i]->forward(x);
      if (i == 2 || i == 4 || i == 6) maps.push_back(x);
    }
    return maps;
  }
};
TORCH_MODULE(EfficientNetFeatures);

struct EfficientDetImpl : nn::Module {
  explicit EfficientDetImpl(std::int64_t image)
      : backbone(register_module("backbone", EfficientNetFeatures())),
        fpn(register_module("fpn", efficientdet::BiFpn(kBackboneWidths, image))),
        class_net(
            register_module("class_net", efficientdet::HeadNet(efficientdet::kClasses, kRareness))),
        box_net(register_module("box_net", efficientdet::HeadNet(4, 0.0))) {}

  Maps forward(const torch::Tensor& images) {
    const auto maps = fpn(backbone(images));
    return {.classes = class_net(maps), .boxes = box_net(maps)};
  }

  EfficientNetFeatures backbone;
  efficientdet::BiFpn fpn;
  efficientdet::HeadNet class_net, box_net;

 private:
  static constexpr std::array<int, 3> kBackboneWidths{40, 112, 320};
  static inline const double kRareness = -std::log(99.0);  ///< a class begins with a chance of 1 %
};
TORCH_MODULE(EfficientDet);

/// Rows of top, left, bottom, right, of a twentieth to a half of the image's side.
torch::Tensor boxes_of(const torch::Tensor& drawn, double image) {
  const auto size = drawn.slice(-1, 2, 4) * 0.45 + 0.05;
  const auto corner = drawn.slice(-1, 0, 2) * (1.0 - size);
  return torch::cat({corner, corner + size}, -1) * image;
}

class EfficientDetWorkload final : public NetworkWorkload {
 public:
  explicit EfficientDetWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const int image = setup.preset == Preset::paper ? kPaperImage : kSmallImage;
    network_ = EfficientDet(image);
    adopt({network_.ptr()});
    anchors_ = place(efficientdet::anchors_of(image));
    images_ = place(draw().normal({setup.batch, 3, image, image}));
    pictures_ = {.scale = place(torch::ones({setup.batch})),
                 .size = place(torch::full({setup.batch, 2}, static_cast<double>(image)))};
    if (!is_training()) return;
    draw_labels(setup.batch, image);
    // The original's schedule begins with a warm-up, of which it never gets beyond the first rate.
    const auto options = torch::optim::SGDOptions(1e-4).momentum(0.9);
    optimizer_ = timm::decaying_sgd(*network_, options, /*decay=*/4e-5);
  }

 protected:
  NamedTensors forward() override {
    const auto maps = network_->forward(images_);
    const auto detections = efficientdet::detections_of(maps, anchors_, pictures_);
    predictions_ = detections.to(torch::kCPU);  // as the original's evaluator takes them
    NamedTensors outputs;
    for (std::size_t i = 0; i < kLevels; ++i) {
      outputs.emplace_back("class_" + std::to_string(i), maps.classes[i]);
    }
    for (std::size_t i = 0; i < kLevels; ++i) {
      outputs.emplace_back("box_" + std::to_string(i), maps.boxes[i]);
    }
    outputs.emplace_back("detections", detections);
    return outputs;
  }

  void counted_forward() override { network_->forward(images_); }

  torch::Tensor loss() override {
    return efficientdet::loss_of(network_->forward(images_), labels_);
  }

  /// The original reads the loss before the backward, clears the gradients after the forward, clips
  /// them, and waits for the device at the end.
  void train_step() override {
    constexpr double kLongest = 10.0;
    const auto value = training_loss();
    last_loss_ = value.detach().to(torch::kCPU);
    optimizer_->zero_grad();
    value.backward();
    nn::utils::clip_grad_norm_(network_->parameters(), kLongest);
    optimizer_->step();
    if (device().is_cuda()) torch::cuda::synchronize();
  }

 private:
  void draw_labels(std::int64_t batch, int image) {
    const auto boxes = boxes_of(draw().uniform({batch, kObjects, 4}), image);
    const auto classes = draw().integers(efficientdet::kClasses, {batch, kObjects});
    labels_ = efficientdet::label(image, boxes, classes);
    for (auto& each : labels_.classes) each = place(each);
    for (auto& each : labels_.boxes) each = place(each);
    labels_.positives = place(labels_.positives);
  }

  EfficientDet network_{nullptr};
  torch::Tensor anchors_;
  torch::Tensor images_;
  efficientdet::Pictures pictures_;
  Labels labels_;
  torch::Tensor predictions_;
};

}  // namespace timm_efficientdet

TORCHWATCH_DEFINE(timm_efficientdet) {
  return {.domain = "computer vision",
          .task = "object detection",
          .paper = {.train = 16, .infer = 128},
          .small = {.train = 2, .infer = 2},
          .cut = "images 128x128, batch 2",
          .build = build_as<timm_efficientdet::EfficientDetWorkload>};
}

}  // namespace torchwatch::models
