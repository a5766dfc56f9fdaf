#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace mobilenet_v3 {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kStem = 16;
constexpr int kHead = 960;
constexpr int kHidden = 1280;  ///< for the classifier

enum class Activation { none, relu, hardswish };

struct Block {
  int kernel;
  int middle;  ///< channels of the depthwise convolution
  int channels;
  bool has_attention;
  Activation activation;
  int stride;
};
constexpr Block kBlocks[] = {
    {3, 16, 16, false, Activation::relu, 1},       {3, 64, 24, false, Activation::relu, 2},
    {3, 72, 24, false, Activation::relu, 1},       {5, 72, 40, true, Activation::relu, 2},
    {5, 120, 40, true, Activation::relu, 1},       {5, 120, 40, true, Activation::relu, 1},
    {3, 240, 80, false, Activation::hardswish, 2}, {3, 200, 80, false, Activation::hardswish, 1},
    {3, 184, 80, false, Activation::hardswish, 1}, {3, 184, 80, false, Activation::hardswish, 1},
    {3, 480, 112, true, Activation::hardswish, 1}, {3, 672, 112, true, Activation::hardswish, 1},
    {5, 672, 160, true, Activation::hardswish, 2}, {5, 960, 160, true, Activation::hardswish, 1},
    {5, 960, 160, true, Activation::hardswish, 1}};

nn::Functional hardswish() {
  return nn::Functional([](torch::Tensor x) { return torch::hardswish_(x); });
}

NestedSequential unit(const nn::Conv2d& layer, Activation activation) {
  const auto channels = layer->options.out_channels();
  NestedSequential layers(
      layer, nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).eps(0.001).momentum(0.01)));
  if (activation == Activation::relu) {
    layers->push_back(in_place_relu());
  } else if (activation == Activation::hardswish) {
    layers->push_back(hardswish());
  }
  return layers;
}

/// Scales the channels by what a small network makes of their means.
struct SqueezeExcitationImpl : nn::Module {
  explicit SqueezeExcitationImpl(int channels)
      : fc1(register_module("fc1", nn::Conv2d(nn::Conv2dOptions(channels, narrowed(channels), 1)))),
        fc2(register_module("fc2",
                            nn::Conv2d(nn::Conv2dOptions(narrowed(channels), channels, 1)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto scale = torch::adaptive_avg_pool2d(x, {1, 1});
    scale = torch::relu(fc1(scale));
    scale = torch::hardsigmoid(fc2(scale));
    return scale * x;
  }

  nn::Conv2d fc1, fc2;

 private:
  /// A quarter, rounded to a multiple of 8, but not down by more than a tenth.
  static int narrowed(int channels) {
    const int quarter = channels / 4;
    const int rounded = std::max(8, (quarter + 4) / 8 * 8);
    return 10 * rounded < 9 * quarter ? rounded + 8 : rounded;
  }
};
TORCH_MODULE(SqueezeExcitation);

/// Wide in the middle, where each channel has a convolution of its own and may be scaled.
struct InvertedResidualImpl : nn::Module {
  InvertedResidualImpl(int from, const Block& shape)
      : is_residual(shape.stride == 1 && from == shape.channels),
        block(register_module("block", nn::Sequential())) {
    if (shape.middle != from) {
      block->push_back(unit(convolution(from, shape.middle, 1), shape.activation));
    }
    block->push_back(
        unit(depthwise_convolution(shape.middle, shape.kernel, shape.stride), shape.activation));
    if (shape.has_attention) block->push_back(SqueezeExcitation(shape.middle));
    block->push_back(unit(convolution(shape.middle, shape.channels, 1), Activation::none));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = block->forward(x);
    if (is_residual) y += x;
    return y;
  }

  bool is_residual;
  nn::Sequential block;
};
TORCH_MODULE(InvertedResidual);

/// The larger of the two networks of its paper.
struct MobileNetV3Impl : nn::Module {
  MobileNetV3Impl()
      : features(register_module(
            "features", nn::Sequential(unit(convolution(3, kStem, 3, 2), Activation::hardswish)))),
        classifier(register_module(
            "classifier", nn::Sequential(nn::Linear(kHead, kHidden), hardswish(),
                                         nn::Dropout(nn::DropoutOptions(0.2).inplace(true)),
                                         nn::Linear(kHidden, TorchvisionClassifier::kClasses)))) {
    int channels = kStem;
    for (const auto& block : kBlocks) {
      features->push_back(InvertedResidual(channels, block));
      channels = block.channels;
    }
    features->push_back(unit(convolution(channels, kHead, 1), Activation::hardswish));
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
TORCH_MODULE(MobileNetV3);

}  // namespace mobilenet_v3

TORCHWATCH_DEFINE(mobilenet_v3_large) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 4",
          .build = build_fixed_classifier<TorchvisionClassifier, mobilenet_v3::MobileNetV3,
                                          mobilenet_v3::kPaperImage, mobilenet_v3::kSmallImage>};
}

}  // namespace torchwatch::models
