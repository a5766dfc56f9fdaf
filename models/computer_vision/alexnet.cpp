#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace alexnet {

namespace nn = torch::nn;

struct Size {
  int image = 224;
  int hidden = 4096;  ///< for the linear layers
};
constexpr Size kPaper{};
constexpr Size kSmall{.image = 64, .hidden = 256};
constexpr int kGrid = 6;  ///< width and height of what the linear layers see

nn::Conv2d convolution(int from, int to, int kernel) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).padding(kernel / 2));
}

/// Half the size, by windows that overlap.
nn::MaxPool2d pool() {
  return nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2));
}

/// Five convolutions and three linear layers; no normalisation.
struct AlexNetImpl : nn::Module {
  explicit AlexNetImpl(const Size& size)
      : features(register_module(
            "features",
            nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 64, 11).stride(4).padding(2)),
                           in_place_relu(), pool(), convolution(64, 192, 5), in_place_relu(),
                           pool(), convolution(192, 384, 3), in_place_relu(),
                           convolution(384, 256, 3), in_place_relu(), convolution(256, 256, 3),
                           in_place_relu(), pool()))),
        classifier(register_module(
            "classifier",
            nn::Sequential(nn::Dropout(), nn::Linear(256 * kGrid * kGrid, size.hidden),
                           in_place_relu(), nn::Dropout(), nn::Linear(size.hidden, size.hidden),
                           in_place_relu(),
                           nn::Linear(size.hidden, TorchvisionClassifier::kClasses)))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = features->forward(x);
    x = torch::adaptive_avg_pool2d(x, {kGrid, kGrid});
    return classifier->forward(torch::flatten(x, 1));
  }

  nn::Sequential features;
  nn::Sequential classifier;
};
TORCH_MODULE(AlexNet);

}  // namespace alexnet

TORCHWATCH_DEFINE(alexnet) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 128, .infer = 128},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, linear layers 256 wide, batch 4",
          .build = build_classifier<TorchvisionClassifier, alexnet::AlexNet, alexnet::kPaper,
                                    alexnet::kSmall>};
}

}  // namespace torchwatch::models
