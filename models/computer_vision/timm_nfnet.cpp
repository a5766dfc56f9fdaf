#include <cmath>

#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_nfnet {

namespace nn = torch::nn;

struct Size {
  int narrower = 1;  ///< divides the channels
  int image = 192;
};
constexpr Size kPaper{};
constexpr Size kSmall{.narrower = 4, .image = 64};

constexpr int kStem = 128;
constexpr int kGroup = 128;     ///< channels of a group
constexpr double kAlpha = 0.2;  ///< scales a block's branch, and so the variance that it adds

struct Stage {
  int width;
  int depth;
};
constexpr std::array<Stage, 4> kStages{{{256, 1}, {512, 2}, {1536, 6}, {1536, 3}}};

/// GELU, scaled to keep the variance of normal inputs.
torch::Tensor activate(const torch::Tensor& x) {
  constexpr double kGamma = 1.7015043497085571;
  return torch::gelu(x).mul_(kGamma);
}

/// A convolution whose weight is standardised in each forward, by a batch normalisation over it.
struct ScaledStdConv2dSameImpl : nn::Conv2dImpl {
  ScaledStdConv2dSameImpl(int from, int to, int kernel, int stride = 1, int groups = 1)
      : nn::Conv2dImpl(nn::Conv2dOptions(from, to, kernel)
                           .stride(stride)
                           .padding(stride == 1 ? kernel / 2 : 0)
                           .groups(groups)),
        gain(register_parameter("gain", torch::ones({to, 1, 1, 1}))),
        scale(1.0 / std::sqrt(static_cast<double>(weight[0].numel()))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto stride = options.stride()->front();
    return _conv_forward(stride == 1 ? x : pad_same(x, weight.size(2), stride), standardised());
  }

  torch::Tensor standardised() const {
    const auto filters = weight.reshape({1, weight.size(0), -1});
    const auto normalised = nn::functional::batch_norm(filters, {}, {},
                                                       nn::functional::BatchNormFuncOptions()
                                                           .weight((gain * scale).view(-1))
                                                           .training(true)
                                                           .momentum(0.0)
                                                           .eps(1e-5));
    return normalised.reshape_as(weight);
  }

  torch::Tensor gain;
  double scale;
};
TORCH_MODULE(ScaledStdConv2dSame);

/// The way around a block, where its output has another shape than its input.
struct DownsampleAvgImpl : nn::Module {
  DownsampleAvgImpl(int from, int to, int stride)
      : halves(stride == 2), conv(register_module("conv", ScaledStdConv2dSame(from, to, 1))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    if (!halves) return conv(x);
    return conv(torch::avg_pool2d(x, 2, 2, /*padding=*/0, /*ceil_mode=*/true,
                                  /*count_include_pad=*/false));
  }

  bool halves;
  ScaledStdConv2dSame conv;
};
TORCH_MODULE(DownsampleAvg);

struct Block {
  int from, to, stride, groups;
  double variance;  ///< for the input, as the design expects it
};

/// Activations before convolutions, a gate at the end and a gain that begins at zero.
struct NormFreeBlockImpl : nn::Module {
  explicit NormFreeBlockImpl(const Block& block) : beta(1.0 / std::sqrt(block.variance)) {
    const int inner = block.to / 2;
    if (block.from != block.to || block.stride != 1) {
      downsample = register_module("downsample", DownsampleAvg(block.from, block.to, block.stride));
    }
    conv1 = register_module("conv1", ScaledStdConv2dSame(block.from, inner, 1));
    conv2 =
        register_module("conv2", ScaledStdConv2dSame(inner, inner, 3, block.stride, block.groups));
    conv2b = register_module("conv2b", ScaledStdConv2dSame(inner, inner, 3, 1, block.groups));
    conv3 = register_module("conv3", ScaledStdConv2dSame(inner, block.to, 1));
    attn_last = register_module("attn_last", timm::SEModule(block.to, block.to / 2));
    skipinit_gain = register_parameter("skipinit_gain", torch::zeros({}));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    constexpr double kGateGain = 2.0;  // a gate halves on average
    const auto input = activate(x) * beta;
    const auto shortcut = downsample ? downsample(input) : x;
    auto y = conv2(activate(conv1(input)));
    y = conv3(activate(conv2b(activate(y))));
    y = kGateGain * attn_last(y);
    return y.mul_(skipinit_gain) * kAlpha + shortcut;
  }

  double beta;
  DownsampleAvg downsample{nullptr};
  ScaledStdConv2dSame conv1{nullptr}, conv2{nullptr}, conv2b{nullptr}, conv3{nullptr};
  timm::SEModule attn_last{nullptr};
  torch::Tensor skipinit_gain;
};
TORCH_MODULE(NormFreeBlock);

/// The blocks of all stages, counted through. The expected variance grows with each block; a
/// stage's first one scales its shortcut as well, so that it begins at 1 again.
std::vector<std::vector<Block>> layout_of(const Size& size) {
  std::vector<std::vector<Block>> stages;
  int channels = kStem / size.narrower;
  double variance = 1.0;
  for (const auto& stage : kStages) {
    auto& blocks = stages.emplace_back();
    const int width = stage.width / size.narrower;
    const int groups = stage.width / 2 / kGroup;
    for (int i = 0; i < stage.depth; ++i) {
      const int stride = i == 0 && stages.size() > 1 ? 2 : 1;
      blocks.push_back({.from = channels,
                        .to = width,
                        .stride = stride,
                        .groups = groups,
                        .variance = variance});
      variance = (i == 0 ? 1.0 : variance) + kAlpha * kAlpha;
      channels = width;
    }
  }
  return stages;
}

/// Four convolutions with activations between them.
struct StemImpl : nn::Module {
  explicit StemImpl(int width)
      : conv1(register_module("conv1", ScaledStdConv2dSame(3, width / 8, 3, 2))),
        conv2(register_module("conv2", ScaledStdConv2dSame(width / 8, width / 4, 3))),
        conv3(register_module("conv3", ScaledStdConv2dSame(width / 4, width / 2, 3))),
        conv4(register_module("conv4", ScaledStdConv2dSame(width / 2, width, 3, 2))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return conv4(activate(conv3(activate(conv2(activate(conv1(x)))))));
  }

  ScaledStdConv2dSame conv1, conv2, conv3, conv4;
};
TORCH_MODULE(Stem);

/// NFNet-F0 as DeepMind's: no batch normalisation, TensorFlow's padding.
struct NormFreeNetImpl : nn::Module {
  explicit NormFreeNetImpl(const Size& size)
      : stem(register_module("stem", Stem(kStem / size.narrower))),
        stages(register_module("stages", nn::ModuleList())) {
    for (const auto& layout : layout_of(size)) {
      nn::Sequential stage;
      for (const auto& block : layout) stage->push_back(NormFreeBlock(block));
      stages->push_back(stage);
    }
    const int width = kStages.back().width / size.narrower;
    final_conv = register_module("final_conv", ScaledStdConv2dSame(width, 2 * width, 1));
    head = register_module("head", timm::ClassifierHead(2 * width, timm::kClasses));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = stem(x);
    for (const auto& stage : *stages) y = stage->as<nn::SequentialImpl>()->forward(y);
    return head(activate(final_conv(y)));
  }

  Stem stem;
  nn::ModuleList stages;
  ScaledStdConv2dSame final_conv{nullptr};
  timm::ClassifierHead head{nullptr};

 private:
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanIn, torch::kLinear);
        nn::init::zeros_(conv->bias);
      }
    }
    initialise_linear_layers(*this);
  }
};
TORCH_MODULE(NormFreeNet);

}  // namespace timm_nfnet

TORCHWATCH_DEFINE(timm_nfnet) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 128, .infer = 128},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, a quarter of the channels, batch 2",
          .build = build_classifier<timm::Classifier, timm_nfnet::NormFreeNet, timm_nfnet::kPaper,
                                    timm_nfnet::kSmall>};
}

}  // namespace torchwatch::models
