#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_regnet {

namespace nn = torch::nn;
using timm::Activation;
using timm::ConvNormAct;

struct Size {
  int narrower = 1;  ///< divides the channels
  int image = 224;
};
constexpr Size kPaper{};
constexpr Size kSmall{.narrower = 4, .image = 64};

constexpr int kStem = 32;
constexpr int kGroup = 112;  ///< channels of a group

struct Stage {
  int width;
  int depth;
};
constexpr std::array<Stage, 4> kStages{{{224, 2}, {448, 5}, {896, 11}, {2240, 1}}};

/// A bottleneck that keeps its width inside, with a gate after the grouped convolution.
struct BottleneckImpl : nn::Module {
  BottleneckImpl(int from, int to, int stride, int groups)
      : conv1(register_module("conv1", ConvNormAct(convolution(from, to, 1)))),
        conv2(register_module("conv2", ConvNormAct(convolution(to, to, 3, stride, groups)))),
        se(register_module("se", timm::SEModule(to, from / 4))),
        conv3(register_module("conv3", ConvNormAct(convolution(to, to, 1), Activation::none))) {
    if (stride == 1 && from == to) return;
    downsample = register_module("downsample",
                                 ConvNormAct(convolution(from, to, 1, stride), Activation::none));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = conv3(se(conv2(conv1(x))));
    return torch::relu(y + (downsample ? downsample(x) : x));
  }

  ConvNormAct conv1, conv2;
  timm::SEModule se;
  ConvNormAct conv3;
  ConvNormAct downsample{nullptr};
};
TORCH_MODULE(Bottleneck);

/// RegNetY-12GF.
struct RegNetImpl : nn::Module {
  explicit RegNetImpl(const Size& size)
      : stem(register_module("stem", ConvNormAct(convolution(3, kStem, 3, 2)))) {
    int channels = kStem;
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      const int width = kStages[i].width / size.narrower;
      for (int block = 0; block < kStages[i].depth; ++block) {
        const int stride = block == 0 ? 2 : 1;
        stages[i]->push_back("b" + std::to_string(block + 1),
                             Bottleneck(channels, width, stride, kStages[i].width / kGroup));
        channels = width;
      }
      register_module("s" + std::to_string(i + 1), stages[i]);
    }
    head = register_module("head", timm::ClassifierHead(channels, timm::kClasses));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = stem(x);
    for (auto& stage : stages) y = stage->forward(y);
    return head(y);
  }

  ConvNormAct stem;
  std::array<nn::Sequential, 4> stages;
  timm::ClassifierHead head{nullptr};

 private:
  /// Each block begins as its shortcut: the last normalisation's weight is zero.
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        timm::spread_by_fan_out(*conv);
      } else if (auto* block = module->as<BottleneckImpl>()) {
        nn::init::zeros_(block->conv3->bn->weight);
      }
    }
    initialise_linear_layers(*this);
  }
};
TORCH_MODULE(RegNet);

}  // namespace timm_regnet

TORCHWATCH_DEFINE(timm_regnet) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, a quarter of the channels, batch 4",
          .build = build_classifier<timm::Classifier, timm_regnet::RegNet, timm_regnet::kPaper,
                                    timm_regnet::kSmall>};
}

}  // namespace torchwatch::models
