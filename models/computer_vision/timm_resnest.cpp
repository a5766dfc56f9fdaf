#include <algorithm>

#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_resnest {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< inner channels of the first stage; each stage doubles them
  int image = 224;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 32, .image = 64};

constexpr int kRadix = 2;      ///< splits that a block's attention chooses from
constexpr int kExpansion = 4;  ///< output channels for each inner one

/// A grouped convolution into two splits, which are added with weights from a softmax for each
/// channel.
struct SplitAttnImpl : nn::Module {
  explicit SplitAttnImpl(int width)
      : conv(register_module("conv", convolution(width, kRadix * width, 3, 1, kRadix))),
        bn0(register_module("bn0", nn::BatchNorm2d(kRadix * width))) {
    const int squeezed = std::max(width * kRadix / 4, 32);
    fc1 = register_module("fc1", nn::Conv2d(nn::Conv2dOptions(width, squeezed, 1)));
    bn1 = register_module("bn1", nn::BatchNorm2d(squeezed));
    fc2 = register_module("fc2", nn::Conv2d(nn::Conv2dOptions(squeezed, kRadix * width, 1)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto splits = bn0(conv(x)).relu_();
    const auto batch = splits.size(0);
    const auto width = splits.size(1) / kRadix;
    splits = splits.reshape({batch, kRadix, width, splits.size(2), splits.size(3)});
    const auto means = splits.sum(1).mean({2, 3}, /*keepdim=*/true);
    const auto shares = share(fc2(bn1(fc1(means)).relu_()));
    return (splits * shares.reshape({batch, kRadix, width, 1, 1})).sum(1).contiguous();
  }

  static torch::Tensor share(const torch::Tensor& logits) {
    const auto batch = logits.size(0);
    const auto splits = logits.view({batch, 1, kRadix, -1}).transpose(1, 2);
    return torch::softmax(splits, 1).reshape({batch, -1}).view({batch, -1, 1, 1});
  }

  nn::Conv2d conv;
  nn::BatchNorm2d bn0;
  nn::Conv2d fc1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::Conv2d fc2{nullptr};
};
TORCH_MODULE(SplitAttn);

/// Pools before its convolution, where it halves the image.
nn::Sequential shortcut(int from, int to, bool halves) {
  nn::Sequential way;
  if (halves) {
    way->push_back(
        nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2).ceil_mode(true).count_include_pad(false)));
  }
  way->push_back(convolution(from, to, 1));
  way->push_back(nn::BatchNorm2d(to));
  return way;
}

struct ResNestBottleneckImpl : nn::Module {
  ResNestBottleneckImpl(int from, int width, bool halve)
      : halves(halve),
        conv1(register_module("conv1", convolution(from, width, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(width))),
        conv2(register_module("conv2", SplitAttn(width))),
        conv3(register_module("conv3", convolution(width, kExpansion * width, 1))),
        bn3(register_module("bn3", nn::BatchNorm2d(kExpansion * width))),
        downsample(register_module("downsample", shortcut(from, kExpansion * width, halve))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = conv2(bn1(conv1(x)).relu_());
    if (halves) y = torch::avg_pool2d(y, 3, 2, 1);
    y = bn3(conv3(y));
    y += downsample->forward(x);
    return y.relu_();
  }

  bool halves;
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  SplitAttn conv2;
  nn::Conv2d conv3;
  nn::BatchNorm2d bn3;
  nn::Sequential downsample;
};
TORCH_MODULE(ResNestBottleneck);

nn::Sequential stem_of(int width) {
  nn::Sequential stem(convolution(3, width, 3, 2), nn::BatchNorm2d(width), in_place_relu(),
                      convolution(width, width, 3), nn::BatchNorm2d(width), in_place_relu(),
                      convolution(width, 2 * width, 3));
  return stem;
}

/// ResNeSt-14d: four stages of one block each, so that every block has a shortcut of its own.
struct ResNestImpl : nn::Module {
  explicit ResNestImpl(const Size& size)
      : conv1(register_module("conv1", stem_of(size.width / 2))),
        bn1(register_module("bn1", nn::BatchNorm2d(size.width))) {
    int channels = size.width;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const int width = size.width << i;
      stages[i]->push_back(ResNestBottleneck(channels, width, /*halve=*/i > 0));
      register_module("layer" + std::to_string(i + 1), stages[i]);
      channels = kExpansion * width;
    }
    fc = register_module("fc", nn::Linear(channels, timm::kClasses));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn1(conv1->forward(x)).relu_();
    y = torch::max_pool2d(y, 3, 2, 1);
    for (auto& stage : stages) y = stage->forward(y);
    return fc(timm::pool_globally(y));
  }

  nn::Sequential conv1;
  nn::BatchNorm2d bn1;
  std::array<nn::Sequential, 4> stages;
  nn::Linear fc{nullptr};

 private:
  /// Each block begins as its shortcut: the last normalisation's weight is zero.
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      } else if (auto* block = module->as<ResNestBottleneckImpl>()) {
        nn::init::zeros_(block->bn3->weight);
      }
    }
  }
};
TORCH_MODULE(ResNest);

}  // namespace timm_resnest

TORCHWATCH_DEFINE(timm_resnest) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, half the channels, batch 4",
          .build = build_classifier<timm::Classifier, timm_resnest::ResNest, timm_resnest::kPaper,
                                    timm_resnest::kSmall>};
}

}  // namespace torchwatch::models
