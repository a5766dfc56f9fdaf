#include <cmath>

#include "parts/classifier.hpp"
#include "parts/efficientnet.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_efficientnet {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kFeatures = 1280;

const timm::EfficientNetVariant& b0() {
  static const timm::EfficientNetVariant variant{.stages = {{1, 16, 3, 1, 1},
                                                            {6, 24, 3, 2, 2},
                                                            {6, 40, 5, 2, 2},
                                                            {6, 80, 3, 2, 3},
                                                            {6, 112, 5, 1, 3},
                                                            {6, 192, 5, 2, 4},
                                                            {6, 320, 3, 1, 1}}};
  return variant;
}

/// EfficientNet-B0.
struct EfficientNetImpl : timm::EfficientNetBody {
  EfficientNetImpl()
      : timm::EfficientNetBody(b0()),
        conv_head(register_module("conv_head", convolution(channels, kFeatures, 1))),
        bn2(register_module("bn2", timm::BatchNormAct2d(kFeatures, timm::Activation::silu))),
        classifier(register_module("classifier", nn::Linear(kFeatures, timm::kClasses))) {
    timm::spread_convolutions(*this);
    const double reach = 1.0 / std::sqrt(timm::kClasses);
    nn::init::uniform_(classifier->weight, -reach, reach);
    nn::init::zeros_(classifier->bias);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    auto x = stem(images);
    for (auto& stage : stages) x = stage->forward(x);
    return classifier(timm::pool_globally(bn2(conv_head(x))));
  }

  nn::Conv2d conv_head;
  timm::BatchNormAct2d bn2;
  nn::Linear classifier;
};
TORCH_MODULE(EfficientNet);

}  // namespace timm_efficientnet

TORCHWATCH_DEFINE(timm_efficientnet) {
  return {
      .domain = "computer vision",
      .task = "image classification",
      .paper = {.train = 32, .infer = 64},
      .small = {.train = 2, .infer = 2},
      .runs_in_16_bits = true,
      .cut = "images 64x64, batch 2",
      .build =
          build_fixed_classifier<timm::Classifier, timm_efficientnet::EfficientNet,
                                 timm_efficientnet::kPaperImage, timm_efficientnet::kSmallImage>};
}

}  // namespace torchwatch::models
