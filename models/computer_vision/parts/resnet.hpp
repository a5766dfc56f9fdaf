#pragma once

#include <array>
#include <string>

#include "layers.hpp"

namespace torchwatch::models::resnet {

namespace nn = torch::nn;

/// The differences between the members of the family.
struct Architecture {
  bool bottleneck = true;
  std::array<int, 4> blocks{};  ///< in each stage
  int groups = 1;               ///< for a bottleneck's 3x3 convolution
  int group_width = 64;         ///< its channels in a group, in the first stage of the paper preset
};
inline constexpr Architecture kResNet18{.bottleneck = false, .blocks = {2, 2, 2, 2}};
inline constexpr Architecture kResNet50{.blocks = {3, 4, 6, 3}};
inline constexpr Architecture kResNet152{.blocks = {3, 8, 36, 3}};
inline constexpr Architecture kResNeXt50{.blocks = {3, 4, 6, 3}, .groups = 32, .group_width = 4};

/// The connection around a block whose input and output differ in shape.
inline nn::Sequential shortcut(int from, int to, int stride) {
  return nn::Sequential(convolution(from, to, 1, stride), nn::BatchNorm2d(to));
}

/// Two 3x3 convolutions and a shortcut, which is a 1x1 convolution where the shape changes.
struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int from, int to, int stride)
      : conv1(register_module("conv1", convolution(from, to, 3, stride))),
        bn1(register_module("bn1", nn::BatchNorm2d(to))),
        conv2(register_module("conv2", convolution(to, to, 3))),
        bn2(register_module("bn2", nn::BatchNorm2d(to))) {
    if (stride == 1 && from == to) return;
    downsample = register_module("downsample", shortcut(from, to, stride));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y));
    y += downsample ? downsample->forward(x) : x;
    return y.relu_();
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

/// A 3x3 convolution between two of 1x1, on fewer channels or on groups of them.
struct BottleneckImpl : nn::Module {
  static constexpr int kExpansion = 4;  ///< output channels for each of a stage's

  BottleneckImpl(int from, int to, int middle, int stride, int groups = 1)
      : conv1(register_module("conv1", convolution(from, middle, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(middle))),
        conv2(register_module("conv2", convolution(middle, middle, 3, stride, groups))),
        bn2(register_module("bn2", nn::BatchNorm2d(middle))),
        conv3(register_module("conv3", convolution(middle, to, 1))),
        bn3(register_module("bn3", nn::BatchNorm2d(to))) {
    if (stride == 1 && from == to) return;
    downsample = register_module("downsample", shortcut(from, to, stride));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y)).relu_();
    y = bn3(conv3(y));
    y += downsample ? downsample->forward(x) : x;
    return y.relu_();
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Conv2d conv3;
  nn::BatchNorm2d bn3;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Bottleneck);

/// A stem, four stages of residual blocks and a linear layer. `width`: channels of the first stage;
/// each stage doubles them.
struct ResNetImpl : nn::Module {
  ResNetImpl(const Architecture& architecture, int width, int outputs)
      : conv1(register_module(
            "conv1", nn::Conv2d(nn::Conv2dOptions(3, width, 7).stride(2).padding(3).bias(false)))),
        bn1(register_module("bn1", nn::BatchNorm2d(width))) {
    int channels = width;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const int stride = i == 0 ? 1 : 2;
      stages[i] = register_module(
          "layer" + std::to_string(i + 1),
          stage(architecture, architecture.blocks[i], width << i, stride, channels));
    }
    fc = register_module("fc", nn::Linear(channels, outputs));
    initialise_convolutions(*this);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = bn1(conv1(x)).relu_();
    x = torch::max_pool2d(x, 3, 2, 1);
    for (auto& each : stages) x = each->forward(x);
    x = torch::adaptive_avg_pool2d(x, {1, 1});
    return fc(torch::flatten(x, 1));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  std::array<nn::Sequential, 4> stages{nullptr, nullptr, nullptr, nullptr};
  nn::Linear fc{nullptr};

 private:
  /// `channels` is the number that comes in and, afterwards, goes out.
  static nn::Sequential stage(const Architecture& architecture, int blocks, int width, int stride,
                              int& channels) {
    const int to = architecture.bottleneck ? width * BottleneckImpl::kExpansion : width;
    const int middle = width * architecture.group_width / 64 * architecture.groups;
    nn::Sequential sequence;
    for (int i = 0; i < blocks; ++i) {
      if (architecture.bottleneck) {
        sequence->push_back(Bottleneck(channels, to, middle, stride, architecture.groups));
      } else {
        sequence->push_back(BasicBlock(channels, to, stride));
      }
      channels = to;
      stride = 1;
    }
    return sequence;
  }
};
TORCH_MODULE(ResNet);

}  // namespace torchwatch::models::resnet
