#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace phlippe_densenet {

namespace nn = torch::nn;

constexpr int kImage = 32;
constexpr int kClasses = 10;
constexpr int kGrowth = 16;     ///< channels that a layer adds
constexpr int kBottleneck = 2;  ///< times the growth, before a layer's 3x3 convolution
constexpr int kBlocks = 4;
constexpr int kLayers = 6;  ///< in each block

/// Puts new channels before those that came in.
struct DenseLayerImpl : nn::Module {
  explicit DenseLayerImpl(int from)
      : net(register_module("net",
                            nn::Sequential(nn::BatchNorm2d(from), nn::ReLU(),
                                           convolution(from, kBottleneck * kGrowth, 1),
                                           nn::BatchNorm2d(kBottleneck * kGrowth), nn::ReLU(),
                                           convolution(kBottleneck * kGrowth, kGrowth, 3)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::cat({net->forward(x), x}, 1); }

  nn::Sequential net;
};
TORCH_MODULE(DenseLayer);

struct DenseBlockImpl : nn::Module {
  explicit DenseBlockImpl(int from) : block(register_module("block", nn::Sequential())) {
    for (int i = 0; i < kLayers; ++i) block->push_back(DenseLayer(from + i * kGrowth));
  }

  torch::Tensor forward(const torch::Tensor& x) { return block->forward(x); }

  nn::Sequential block;
};
TORCH_MODULE(DenseBlock);

/// Between two blocks: half the channels, half the size.
struct TransitionLayerImpl : nn::Module {
  explicit TransitionLayerImpl(int channels)
      : transition(register_module(
            "transition", nn::Sequential(nn::BatchNorm2d(channels), nn::ReLU(),
                                         convolution(channels, channels / 2, 1),
                                         nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2))))) {}

  torch::Tensor forward(const torch::Tensor& x) { return transition->forward(x); }

  nn::Sequential transition;
};
TORCH_MODULE(TransitionLayer);

/// The densely connected network of a tutorial's notebooks, for images of 32x32.
struct DenseNetImpl : nn::Module {
  DenseNetImpl() {
    int channels = kBottleneck * kGrowth;
    input_net = register_module(
        "input_net", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, channels, 3).padding(1))));
    blocks = register_module("blocks", nn::Sequential());
    for (int i = 0; i < kBlocks; ++i) {
      blocks->push_back(DenseBlock(channels));
      channels += kLayers * kGrowth;
      if (i + 1 == kBlocks) break;
      blocks->push_back(TransitionLayer(channels));
      channels /= 2;
    }
    output_net =
        register_module("output_net", nn::Sequential(nn::BatchNorm2d(channels), nn::ReLU(),
                                                     nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                                                     nn::Linear(channels, kClasses)));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return output_net->forward(blocks->forward(input_net->forward(x)));
  }

  nn::Sequential input_net{nullptr};
  nn::Sequential blocks{nullptr};
  nn::Sequential output_net{nullptr};

 private:
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      auto* conv = module->as<nn::Conv2dImpl>();
      if (conv == nullptr) continue;
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanIn, torch::kReLU);
    }
  }
};
TORCH_MODULE(DenseNet);

class PhlippeDenseNetWorkload final : public ImageClassifier {
 public:
  explicit PhlippeDenseNetWorkload(const Setup& setup)
      : ImageClassifier(setup, nn::AnyModule(DenseNet()), kImage) {
    if (!is_training()) return;
    target_ = place(draw().integers(kClasses, {setup.batch}));
    optimizer_ = std::make_unique<torch::optim::AdamW>(
        parameters(), torch::optim::AdamWOptions(1e-3).weight_decay(1e-4));
  }
};

}  // namespace phlippe_densenet

TORCHWATCH_DEFINE(phlippe_densenet) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 128, .infer = 128},
          .small = {.train = 4, .infer = 4},
          .cut = "batch 4",
          .build = build_as<phlippe_densenet::PhlippeDenseNetWorkload>};
}

}  // namespace torchwatch::models
