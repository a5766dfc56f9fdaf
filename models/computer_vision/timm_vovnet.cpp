#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_vovnet {

namespace nn = torch::nn;
using timm::ConvNormAct;
using timm::ConvNormActImpl;

struct Size {
  int narrower = 1;  ///< divides the channels
  int image = 224;
};
constexpr Size kPaper{};
constexpr Size kSmall{.narrower = 2, .image = 64};

constexpr int kLayersOfBlock = 5;
constexpr int kStem = 64;

struct Stage {
  int inner;  ///< channels of the 3x3 convolutions
  int outer;
  int blocks;
};
constexpr std::array<Stage, 4> kStages{
    {{128, 256, 1}, {160, 512, 1}, {192, 768, 2}, {224, 1024, 2}}};

/// One-shot aggregation: the input and the outputs of all layers in a row, concatenated once.
struct OsaBlockImpl : nn::Module {
  OsaBlockImpl(int from, int inner, int outer)
      : conv_mid(register_module("conv_mid", nn::ModuleList())),
        conv_concat(register_module(
            "conv_concat", ConvNormAct(convolution(from + kLayersOfBlock * inner, outer, 1)))) {
    for (int i = 0; i < kLayersOfBlock; ++i) {
      conv_mid->push_back(ConvNormAct(convolution(i == 0 ? from : inner, inner, 3)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    std::vector<torch::Tensor> all{x};
    for (const auto& layer : *conv_mid) {
      all.push_back(layer->as<ConvNormActImpl>()->forward(all.back()));
    }
    return conv_concat(torch::cat(all, 1));
  }

  nn::ModuleList conv_mid;
  ConvNormAct conv_concat;
};
TORCH_MODULE(OsaBlock);

/// Blocks of one size, after a halving in all stages but the first.
struct OsaStageImpl : nn::Module {
  OsaStageImpl(int from, const Stage& stage, int narrower, bool halve)
      : halves(halve), blocks(register_module("blocks", nn::Sequential())) {
    const int outer = stage.outer / narrower;
    for (int i = 0; i < stage.blocks; ++i) {
      blocks->push_back(OsaBlock(i == 0 ? from : outer, stage.inner / narrower, outer));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    if (!halves) return blocks->forward(x);
    return blocks->forward(
        torch::max_pool2d(x, 3, 2, /*padding=*/0, /*dilation=*/1, /*ceil_mode=*/true));
  }

  bool halves;
  nn::Sequential blocks;
};
TORCH_MODULE(OsaStage);

nn::Sequential stem_of(const Size& size) {
  const int width = kStem / size.narrower;
  nn::Sequential stem(ConvNormAct(convolution(3, width, 3, 2)),
                      ConvNormAct(convolution(width, width, 3)),
                      ConvNormAct(convolution(width, 2 * width, 3, 2)));
  return stem;
}

/// VoVNet-39.
struct VovNetImpl : nn::Module {
  explicit VovNetImpl(const Size& size)
      : stem(register_module("stem", stem_of(size))),
        stages(register_module("stages", nn::Sequential())) {
    int channels = 2 * kStem / size.narrower;
    for (const auto& stage : kStages) {
      stages->push_back(OsaStage(channels, stage, size.narrower, /*halve=*/!stages->is_empty()));
      channels = stage.outer / size.narrower;
    }
    head = register_module("head", timm::ClassifierHead(channels, timm::kClasses));
    initialise_convolutions(*this);
    nn::init::zeros_(head->fc->bias);
  }

  torch::Tensor forward(const torch::Tensor& x) { return head(stages->forward(stem->forward(x))); }

  nn::Sequential stem, stages;
  timm::ClassifierHead head{nullptr};
};
TORCH_MODULE(VovNet);

}  // namespace timm_vovnet

// The suite files it under detection, although it detects nothing.
TORCHWATCH_DEFINE(timm_vovnet) {
  return {.domain = "computer vision",
          .task = "object detection",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, half the channels, batch 2",
          .build = build_classifier<timm::Classifier, timm_vovnet::VovNet, timm_vovnet::kPaper,
                                    timm_vovnet::kSmall>};
}

}  // namespace torchwatch::models
