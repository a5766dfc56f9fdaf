#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace mnasnet {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kStem = 32;
constexpr int kFirst = 16;  ///< channels that the first, separable convolution leaves
constexpr int kHead = 1280;
constexpr double kMomentum = 1 - 0.9997;  ///< for the running statistics

/// Inverted residual blocks of one resolution.
struct Stack {
  int channels;
  int kernel;
  int stride;  ///< for its first block
  int expansion;
  int blocks;
};
constexpr Stack kStacks[] = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                             {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};

nn::BatchNorm2d norm(int channels) {
  return nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).momentum(kMomentum));
}

/// Wide in the middle, where each channel has a convolution of its own.
struct InvertedResidualImpl : nn::Module {
  InvertedResidualImpl(int from, const Stack& stack, int stride)
      : is_residual(from == stack.channels && stride == 1) {
    const int middle = from * stack.expansion;
    layers = register_module(
        "layers", nn::Sequential(convolution(from, middle, 1), norm(middle), in_place_relu(),
                                 depthwise_convolution(middle, stack.kernel, stride), norm(middle),
                                 in_place_relu(), convolution(middle, stack.channels, 1),
                                 norm(stack.channels)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = layers->forward(x);
    return is_residual ? y + x : y;
  }

  bool is_residual;
  nn::Sequential layers{nullptr};
};
TORCH_MODULE(InvertedResidual);

NestedSequential blocks_of(const Stack& stack, int from) {
  NestedSequential blocks;
  blocks->push_back(InvertedResidual(from, stack, stack.stride));
  for (int i = 1; i < stack.blocks; ++i) {
    blocks->push_back(InvertedResidual(stack.channels, stack, 1));
  }
  return blocks;
}

/// A network that a search for speed on telephones found.
struct MNASNetImpl : nn::Module {
  MNASNetImpl()
      : layers(register_module(
            "layers",
            nn::Sequential(convolution(3, kStem, 3, 2), norm(kStem), in_place_relu(),
                           depthwise_convolution(kStem, 3, 1), norm(kStem), in_place_relu(),
                           convolution(kStem, kFirst, 1), norm(kFirst)))) {
    int channels = kFirst;
    for (const auto& stack : kStacks) {
      layers->push_back(blocks_of(stack, channels));
      channels = stack.channels;
    }
    layers->push_back(convolution(channels, kHead, 1));
    layers->push_back(norm(kHead));
    layers->push_back(in_place_relu());
    nn::Linear linear(kHead, TorchvisionClassifier::kClasses);
    classifier = register_module(
        "classifier", nn::Sequential(nn::Dropout(nn::DropoutOptions(0.2).inplace(true)), linear));
    initialise_convolutions(*this);
    initialise(*linear);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return classifier->forward(layers->forward(x).mean({2, 3}));
  }

  nn::Sequential layers;
  nn::Sequential classifier{nullptr};

 private:
  static void initialise(nn::LinearImpl& linear) {
    const torch::NoGradGuard no_gradients;
    nn::init::kaiming_uniform_(linear.weight, 0, torch::kFanOut, torch::kSigmoid);
    linear.bias.zero_();
  }
};
TORCH_MODULE(MNASNet);

}  // namespace mnasnet

TORCHWATCH_DEFINE(mnasnet1_0) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 4",
          .build = build_fixed_classifier<TorchvisionClassifier, mnasnet::MNASNet,
                                          mnasnet::kPaperImage, mnasnet::kSmallImage>};
}

}  // namespace torchwatch::models
