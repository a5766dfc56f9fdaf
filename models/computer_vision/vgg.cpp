#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace vgg {

namespace nn = torch::nn;

struct Size {
  int image = 224;
  int hidden = 4096;  ///< for the linear layers
};
constexpr Size kPaper{};
constexpr Size kSmall{.image = 32, .hidden = 128};
constexpr int kGrid = 7;  ///< width and height of what the linear layers see

/// Convolutions of one resolution; a pooling ends them.
struct Stage {
  int convolutions;
  int channels;
};
constexpr Stage kStages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};

/// Thirteen 3x3 convolutions and three linear layers; no normalisation.
struct VGGImpl : nn::Module {
  explicit VGGImpl(const Size& size)
      : features(register_module("features", nn::Sequential())),
        classifier(register_module("classifier", nn::Sequential())) {
    int channels = 3;
    for (const auto& stage : kStages) {
      for (int i = 0; i < stage.convolutions; ++i) {
        features->push_back(nn::Conv2d(nn::Conv2dOptions(channels, stage.channels, 3).padding(1)));
        features->push_back(in_place_relu());
        channels = stage.channels;
      }
      features->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));
    }
    classifier->push_back(nn::Linear(channels * kGrid * kGrid, size.hidden));
    classifier->push_back(in_place_relu());
    classifier->push_back(nn::Dropout());
    classifier->push_back(nn::Linear(size.hidden, size.hidden));
    classifier->push_back(in_place_relu());
    classifier->push_back(nn::Dropout());
    classifier->push_back(nn::Linear(size.hidden, TorchvisionClassifier::kClasses));
    initialise_convolutions(*this);
    initialise_linear_layers(*this);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = features->forward(x);
    x = torch::adaptive_avg_pool2d(x, {kGrid, kGrid});
    return classifier->forward(torch::flatten(x, 1));
  }

  nn::Sequential features;
  nn::Sequential classifier;
};
TORCH_MODULE(VGG);

}  // namespace vgg

TORCHWATCH_DEFINE(vgg16) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 64, .infer = 4},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 32x32, linear layers 128 wide, batch 2",
          .build = build_classifier<TorchvisionClassifier, vgg::VGG, vgg::kPaper, vgg::kSmall>};
}

}  // namespace torchwatch::models
