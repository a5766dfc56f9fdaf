#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/mobilenet_v2_shape.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace mobilenet_v2 {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
using mobilenet_v2::kHead;
using mobilenet_v2::kStacks;
using mobilenet_v2::kStem;

NestedSequential activated(const nn::Conv2d& layer) {
  const auto channels = layer->options.out_channels();
  return NestedSequential(layer, nn::BatchNorm2d(channels),
                          nn::ReLU6(nn::ReLU6Options(/*inplace=*/true)));
}

/// Wide in the middle, where each channel has a convolution of its own; narrow and linear at both
/// ends.
struct InvertedResidualImpl : nn::Module {
  InvertedResidualImpl(int from, int to, int stride, int expansion)
      : is_residual(from == to && stride == 1), conv(register_module("conv", nn::Sequential())) {
    const int middle = from * expansion;
    if (expansion != 1) conv->push_back(activated(convolution(from, middle, 1)));
    conv->push_back(activated(depthwise_convolution(middle, 3, stride)));
    conv->push_back(convolution(middle, to, 1));
    conv->push_back(nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = conv->forward(x);
    return is_residual ? x + y : y;
  }

  bool is_residual;
  nn::Sequential conv;
};
TORCH_MODULE(InvertedResidual);

/// Seventeen inverted residual blocks between a stem and a wide head.
struct MobileNetV2Impl : nn::Module {
  MobileNetV2Impl()
      : features(
            register_module("features", nn::Sequential(activated(convolution(3, kStem, 3, 2))))),
        classifier(register_module(
            "classifier",
            nn::Sequential(nn::Dropout(0.2), nn::Linear(kHead, TorchvisionClassifier::kClasses)))) {
    int channels = kStem;
    for (const auto& stack : kStacks) {
      for (int i = 0; i < stack.blocks; ++i) {
        const int stride = i == 0 ? stack.stride : 1;
        features->push_back(InvertedResidual(channels, stack.channels, stride, stack.expansion));
        channels = stack.channels;
      }
    }
    features->push_back(activated(convolution(channels, kHead, 1)));
    initialise_convolutions(*this);
    initialise_linear_layers(*this);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::adaptive_avg_pool2d(features->forward(x), {1, 1});
    return classifier->forward(torch::flatten(x, 1));
  }

  nn::Sequential features;
  nn::Sequential classifier;
};
TORCH_MODULE(MobileNetV2);

}  // namespace mobilenet_v2

TORCHWATCH_DEFINE(mobilenet_v2) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 96, .infer = 16},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 4",
          .build = build_fixed_classifier<TorchvisionClassifier, mobilenet_v2::MobileNetV2,
                                          mobilenet_v2::kPaperImage, mobilenet_v2::kSmallImage>};
}

}  // namespace torchwatch::models
