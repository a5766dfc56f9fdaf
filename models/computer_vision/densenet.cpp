#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace densenet {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kStem = 64;
constexpr int kGrowth = 32;     ///< channels that a layer adds
constexpr int kBottleneck = 4;  ///< times the growth, before a layer's 3x3 convolution
constexpr std::array<int, 4> kLayers = {6, 12, 24, 16};  ///< in each block

/// Adds channels to all the maps before it in its block.
struct DenseLayerImpl : nn::Module {
  explicit DenseLayerImpl(int from)
      : norm1(register_module("norm1", nn::BatchNorm2d(from))),
        conv1(register_module("conv1", convolution(from, kBottleneck * kGrowth, 1))),
        norm2(register_module("norm2", nn::BatchNorm2d(kBottleneck * kGrowth))),
        conv2(register_module("conv2", convolution(kBottleneck * kGrowth, kGrowth, 3))) {}

  torch::Tensor forward(const std::vector<torch::Tensor>& maps) {
    const auto y = conv1(norm1(torch::cat(maps, 1)).relu_());
    return conv2(norm2(y).relu_());
  }

  nn::BatchNorm2d norm1;
  nn::Conv2d conv1;
  nn::BatchNorm2d norm2;
  nn::Conv2d conv2;
};
TORCH_MODULE(DenseLayer);

/// Each layer concatenates the maps anew, as the original does.
struct DenseBlockImpl : nn::Module {
  DenseBlockImpl(int from, int count) {
    for (int i = 0; i < count; ++i) {
      layers.push_back(
          register_module("denselayer" + std::to_string(i + 1), DenseLayer(from + i * kGrowth)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    std::vector<torch::Tensor> maps{x};
    for (auto& layer : layers) maps.push_back(layer(maps));
    return torch::cat(maps, 1);
  }

  std::vector<DenseLayer> layers;
};
TORCH_MODULE(DenseBlock);

/// Between two blocks: half the channels, half the size.
NestedSequential transition(int channels) {
  NestedSequential layers;
  layers->push_back("norm", nn::BatchNorm2d(channels));
  layers->push_back("relu", in_place_relu());
  layers->push_back("conv", convolution(channels, channels / 2, 1));
  layers->push_back("pool", nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2)));
  return layers;
}

/// Four blocks of densely connected layers.
struct DenseNetImpl : nn::Module {
  DenseNetImpl() : features(register_module("features", nn::Sequential())) {
    features->push_back(
        "conv0", nn::Conv2d(nn::Conv2dOptions(3, kStem, 7).stride(2).padding(3).bias(false)));
    features->push_back("norm0", nn::BatchNorm2d(kStem));
    features->push_back("relu0", in_place_relu());
    features->push_back("pool0", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
    const int channels = add_blocks();
    features->push_back("norm5", nn::BatchNorm2d(channels));
    classifier =
        register_module("classifier", nn::Linear(channels, TorchvisionClassifier::kClasses));
    initialise();
  }

  torch::Tensor forward(torch::Tensor x) {
    x = features->forward(x).relu_();
    x = torch::adaptive_avg_pool2d(x, {1, 1});
    return classifier(torch::flatten(x, 1));
  }

  nn::Sequential features;
  nn::Linear classifier{nullptr};

 private:
  /// Returns the number of channels that leave the last one.
  int add_blocks() {
    int channels = kStem;
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      const auto number = std::to_string(i + 1);
      features->push_back("denseblock" + number, DenseBlock(channels, kLayers[i]));
      channels += kLayers[i] * kGrowth;
      if (i + 1 == kLayers.size()) break;
      features->push_back("transition" + number, transition(channels));
      channels /= 2;
    }
    return channels;
  }

  void initialise() {
    const torch::NoGradGuard no_gradients;
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) nn::init::kaiming_normal_(conv->weight);
    }
    classifier->bias.zero_();
  }
};
TORCH_MODULE(DenseNet);

}  // namespace densenet

TORCHWATCH_DEFINE(densenet121) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 256, .infer = 64},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 2",
          .build = build_fixed_classifier<TorchvisionClassifier, densenet::DenseNet,
                                          densenet::kPaperImage, densenet::kSmallImage>};
}

}  // namespace torchwatch::models
