#pragma once

#include <array>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

namespace nn = torch::nn;

/// Batch normalisation by fixed numbers, none of them a parameter.
struct FrozenBatchNorm2dImpl : nn::Module {
  explicit FrozenBatchNorm2dImpl(std::int64_t channels)
      : weight(register_buffer("weight", torch::ones({channels}))),
        bias(register_buffer("bias", torch::zeros({channels}))),
        mean(register_buffer("running_mean", torch::zeros({channels}))),
        var(register_buffer("running_var", torch::full({channels}, 1.0 - kEpsilon))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    if (!x.requires_grad()) {
      return torch::batch_norm(x, weight, bias, mean, var, /*training=*/false, /*momentum=*/0.1,
                               kEpsilon, /*cudnn_enabled=*/true);
    }
    // Its backward would compute gradients of the fixed numbers as well.
    const auto scale = weight * (var + kEpsilon).rsqrt();
    const auto shift = bias - mean * scale;
    return x * scale.view({1, -1, 1, 1}) + shift.view({1, -1, 1, 1});
  }

  static constexpr double kEpsilon = 1e-5;
  torch::Tensor weight, bias, mean, var;
};
TORCH_MODULE(FrozenBatchNorm2d);

/// A convolution without bias that owns the frozen normalisation after it.
struct Conv2dImpl : nn::Conv2dImpl {
  explicit Conv2dImpl(const nn::Conv2dOptions& shape)
      : nn::Conv2dImpl(nn::Conv2dOptions(shape).bias(false)),
        norm(register_module("norm", FrozenBatchNorm2d(shape.out_channels()))) {
    nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
  }

  torch::Tensor forward(const torch::Tensor& x) { return norm(nn::Conv2dImpl::forward(x)); }

  FrozenBatchNorm2d norm;
};
TORCH_MODULE(Conv2d);

struct BlockShape {
  int from = 0;
  int to = 0;
  int stride = 1;
  int dilation = 1;
};

/// 1x1, 3x3 and 1x1 convolutions of a quarter of the channels and a shortcut; the first one
/// strides.
struct BottleneckBlockImpl : nn::Module {
  explicit BottleneckBlockImpl(const BlockShape& shape) {
    const int inner = shape.to / 4;
    if (shape.from != shape.to) {
      shortcut = register_module(
          "shortcut", Conv2d(nn::Conv2dOptions(shape.from, shape.to, 1).stride(shape.stride)));
    }
    conv1 = register_module("conv1",
                            Conv2d(nn::Conv2dOptions(shape.from, inner, 1).stride(shape.stride)));
    conv2 = register_module(
        "conv2",
        Conv2d(
            nn::Conv2dOptions(inner, inner, 3).padding(shape.dilation).dilation(shape.dilation)));
    conv3 = register_module("conv3", Conv2d(nn::Conv2dOptions(inner, shape.to, 1)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = conv1(x).relu_();
    y = conv2(y).relu_();
    y = conv3(y);
    y += shortcut ? shortcut(x) : x;
    return y.relu_();
  }

  Conv2d shortcut{nullptr};
  Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
};
TORCH_MODULE(BottleneckBlock);

/// Blocks of equal width, the first of which may stride.
inline nn::Sequential stage_of(int blocks, BlockShape first) {
  nn::Sequential stage(BottleneckBlock{first});
  for (int i = 1; i < blocks; ++i) {
    stage->push_back(
        BottleneckBlock(BlockShape{.from = first.to, .to = first.to, .dilation = first.dilation}));
  }
  return stage;
}

/// The strided layers before the first stage.
struct BasicStemImpl : nn::Module {
  explicit BasicStemImpl(int width)
      : conv1(register_module("conv1",
                              Conv2d(nn::Conv2dOptions(3, width, 7).stride(2).padding(3)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::max_pool2d(conv1(x).relu_(), 3, 2, 1);
  }

  Conv2d conv1;
};
TORCH_MODULE(BasicStem);

struct ResNetShape {
  int depth = 50;  ///< or 101
  int width = 64;  ///< channels of the stem; the stages have 4, 8, 16, 32 times as many
  int stages = 4;
  bool dilated = false;  ///< the last stage dilates instead of striding
  bool frozen = true;    ///< stem and first stage are not trained
};

/// The residual network as a source of features: the outputs of its stages.
struct ResNetImpl : nn::Module {
  explicit ResNetImpl(const ResNetShape& shape)
      : stem(register_module("stem", BasicStem(shape.width))) {
    const std::array<int, 4> blocks{3, 4, shape.depth == 101 ? 23 : 6, 3};
    int from = shape.width;
    for (int i = 0; i < shape.stages; ++i) {
      const bool dilated = shape.dilated && i == 3;
      const BlockShape first{.from = from,
                             .to = 4 * shape.width << i,
                             .stride = i == 0 || dilated ? 1 : 2,
                             .dilation = dilated ? 2 : 1};
      stages.push_back(register_module("res" + std::to_string(i + 2),
                                       stage_of(blocks[static_cast<std::size_t>(i)], first)));
      from = first.to;
    }
    if (shape.frozen) freeze();
  }

  std::vector<torch::Tensor> forward(torch::Tensor x) {
    std::vector<torch::Tensor> outputs;
    x = stem(x);
    for (auto& stage : stages) outputs.push_back(x = stage->forward(x));
    return outputs;
  }

  void freeze() {
    for (auto& parameter : stem->parameters()) parameter.requires_grad_(false);
    for (auto& parameter : stages.front()->parameters()) parameter.requires_grad_(false);
  }

  BasicStem stem;
  std::vector<nn::Sequential> stages;
};
TORCH_MODULE(ResNet);

/// Random weights shrink or grow features from layer to layer; the published ones, which they stand
/// for, keep them around one.
inline void keep_features_even(const nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* stem = module->as<BasicStemImpl>()) stem->conv1->norm->weight.fill_(1.0 / 20);
    auto* block = module->as<BottleneckBlockImpl>();
    if (block == nullptr) continue;
    block->conv3->norm->weight.fill_(0.1);
    if (block->shortcut) block->shortcut->norm->weight.fill_(std::numbers::sqrt2);
  }
}

}  // namespace torchwatch::models::detection
