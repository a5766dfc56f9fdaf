#include <vector>

#include "parts/layers.hpp"
#include "parts/resnet.hpp"
#include "parts/text_boxes.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace doctr_det_predictor {

namespace nn = torch::nn;

struct Size {
  int narrower = 1;  ///< divides the channels
  int image = 1024;
};
constexpr Size kPaper{};
constexpr Size kSmall{.narrower = 2, .image = 128};

constexpr int kStages = 4;
constexpr std::array<int, kStages> kBlocks = resnet::kResNet50.blocks;
constexpr int kFirstWidth = 64;  ///< inner channels of the first stage; each stage doubles them
constexpr int kExpansion = resnet::BottleneckImpl::kExpansion;
constexpr int kHead = 256;  ///< channels of the pyramid

/// ResNet-50 up to its last stage.
struct BackboneImpl : nn::Module {
  explicit BackboneImpl(const Size& size) {
    int channels = kFirstWidth / size.narrower;
    conv1 = register_module(
        "conv1", nn::Conv2d(nn::Conv2dOptions(3, channels, 7).stride(2).padding(3).bias(false)));
    bn1 = register_module("bn1", nn::BatchNorm2d(channels));
    for (std::size_t i = 0; i < kStages; ++i) {
      const int width = (kFirstWidth << i) / size.narrower;
      for (int block = 0; block < kBlocks[i]; ++block) {
        const int stride = i > 0 && block == 0 ? 2 : 1;
        stages[i]->push_back(resnet::Bottleneck(channels, kExpansion * width, width, stride));
        channels = kExpansion * width;
      }
      register_module("layer" + std::to_string(i + 1), stages[i]);
    }
  }

  /// Returns the output of each stage.
  std::vector<torch::Tensor> forward(const torch::Tensor& images) {
    auto x = torch::max_pool2d(bn1(conv1(images)).relu_(), 3, 2, 1);
    std::vector<torch::Tensor> outputs;
    for (auto& stage : stages) {
      x = stage->forward(x);
      outputs.push_back(x);
    }
    return outputs;
  }

  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  std::array<nn::Sequential, kStages> stages;
};
TORCH_MODULE(Backbone);

nn::Upsample enlarge(double times) {
  return nn::Upsample(nn::UpsampleOptions()
                          .scale_factor(std::vector<double>{times, times})
                          .mode(torch::kBilinear)
                          .align_corners(true));
}

/// Adds coarse stages to fine ones, and joins all at the finest stage's size.
struct FeaturePyramidNetworkImpl : nn::Module {
  explicit FeaturePyramidNetworkImpl(const Size& size)
      : in_branches(register_module("in_branches", nn::ModuleList())),
        upsample(register_module("upsample", enlarge(2))),
        out_branches(register_module("out_branches", nn::ModuleList())) {
    const int width = kHead / size.narrower;
    for (int i = 0; i < kStages; ++i) {
      const int from = kExpansion * (kFirstWidth << i) / size.narrower;
      in_branches->push_back(
          nn::Sequential(convolution(from, width, 1), nn::BatchNorm2d(width), in_place_relu()));
      out_branches->push_back(nn::Sequential(convolution(width, width / kStages, 3),
                                             nn::BatchNorm2d(width / kStages), in_place_relu(),
                                             enlarge(1 << i)));
    }
  }

  torch::Tensor forward(const std::vector<torch::Tensor>& stages) {
    std::vector<torch::Tensor> levels;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      levels.push_back(in_branches[i]->as<nn::SequentialImpl>()->forward(stages[i]));
    }
    for (auto i = levels.size() - 1; i > 0; --i) {
      levels[i - 1] = upsample(levels[i]) + levels[i - 1];
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] = out_branches[i]->as<nn::SequentialImpl>()->forward(levels[i]);
    }
    return torch::cat(levels, 1);
  }

  nn::ModuleList in_branches;
  nn::Upsample upsample;
  nn::ModuleList out_branches;
};
TORCH_MODULE(FeaturePyramidNetwork);

/// Scales features of a quarter of the image's size to a map of the full size.
nn::Sequential head_of(const Size& size) {
  const int from = kHead / size.narrower;
  const int width = from / 4;
  const auto doubling = [=](int to) { return nn::ConvTranspose2dOptions(width, to, 2).stride(2); };
  nn::Sequential head(convolution(from, width, 3), nn::BatchNorm2d(width), in_place_relu(),
                      nn::ConvTranspose2d(doubling(width).bias(false)), nn::BatchNorm2d(width),
                      in_place_relu(), nn::ConvTranspose2d(doubling(1)));
  return head;
}

/// Text detection by differentiable binarisation. The head for the threshold is for training only.
struct DBNetImpl : nn::Module {
  explicit DBNetImpl(const Size& size)
      : feat_extractor(register_module("feat_extractor", Backbone(size))),
        fpn(register_module("fpn", FeaturePyramidNetwork(size))),
        prob_head(register_module("prob_head", head_of(size))) {
    register_module("thresh_head", head_of(size));
    initialise_convolutions(*this);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    return torch::sigmoid(prob_head->forward(fpn(feat_extractor(images))));
  }

  Backbone feat_extractor;
  FeaturePyramidNetwork fpn;
  nn::Sequential prob_head;
};
TORCH_MODULE(DBNet);

class TextDetectionWorkload final : public NetworkWorkload {
 public:
  explicit TextDetectionWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = DBNet(size);
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, size.image, size.image}));
  }

 protected:
  /// The original's call finds the text's boxes as well, image by image on the host.
  NamedTensors forward() override {
    const auto map = network_->forward(images_);
    pages_.clear();
    for (const auto& page : map.to(torch::kCPU).unbind(0)) pages_.push_back(text_boxes(page[0]));
    return {{"", map}};
  }

  torch::Tensor loss() override { return {}; }  // not trained

 private:
  DBNet network_{nullptr};
  torch::Tensor images_;
  std::vector<std::vector<TextBox>> pages_;
};

}  // namespace doctr_det_predictor

TORCHWATCH_DEFINE(doctr_det_predictor) {
  return {.domain = "computer vision",
          .task = "object detection",
          .paper = {.infer = 1},
          .small = {.infer = 1},
          .refusals = {.train = "the original has no training"},
          .cut = "images 128x128, half the channels",
          .build = build_as<doctr_det_predictor::TextDetectionWorkload>};
}

}  // namespace torchwatch::models
