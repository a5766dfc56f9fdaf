#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Runs a network's layers: as they are, or in a way that yields each sample's gradient.
class Layers {
 public:
  Layers() = default;
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;
  virtual ~Layers() = default;

  virtual torch::Tensor convolution(torch::nn::Conv2dImpl& layer, const torch::Tensor& x) {
    return layer.forward(x);
  }
  virtual torch::Tensor group_norm(torch::nn::GroupNormImpl& layer, const torch::Tensor& x) {
    return layer.forward(x);
  }
  virtual torch::Tensor linear(torch::nn::LinearImpl& layer, const torch::Tensor& x) {
    return layer.forward(x);
  }
};

namespace group_norm_resnet {

inline torch::nn::Conv2d convolution(int from, int to, int kernel, int stride) {
  torch::nn::Conv2d layer(
      torch::nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
  torch::nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
  return layer;
}

inline torch::nn::GroupNorm norm(int channels) {
  return torch::nn::GroupNorm(std::min(32, channels), channels);
}

struct BasicBlockImpl : torch::nn::Module {
  BasicBlockImpl(int from, int to, int stride)
      : conv1(register_module("conv1", convolution(from, to, 3, stride))),
        bn1(register_module("bn1", norm(to))),
        conv2(register_module("conv2", convolution(to, to, 3, 1))),
        bn2(register_module("bn2", norm(to))) {
    if (stride == 1 && from == to) return;
    downsample = register_module("downsample",
                                 torch::nn::Sequential(convolution(from, to, 1, stride), norm(to)));
  }

  torch::Tensor forward(const torch::Tensor& x, Layers& layers) {
    auto y = layers.group_norm(*bn1, layers.convolution(*conv1, x));
    y.relu_();
    y = layers.group_norm(*bn2, layers.convolution(*conv2, y));
    y += shortcut(x, layers);
    return y.relu_();
  }

  torch::Tensor shortcut(const torch::Tensor& x, Layers& layers) {
    if (!downsample) return x;
    return layers.group_norm(downsample->at<torch::nn::GroupNormImpl>(1),
                             layers.convolution(downsample->at<torch::nn::Conv2dImpl>(0), x));
  }

  torch::nn::Conv2d conv1;
  torch::nn::GroupNorm bn1;
  torch::nn::Conv2d conv2;
  torch::nn::GroupNorm bn2;
  torch::nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

}  // namespace group_norm_resnet

/// The residual network of 18 layers with group instead of batch normalisation, whose samples do
/// not touch each other. Layers run in the order of their parameters.
struct GroupNormResNet18Impl : torch::nn::Module {
  GroupNormResNet18Impl(int width, int classes)
      : conv1(register_module("conv1", group_norm_resnet::convolution(3, width, 7, 2))),
        bn1(register_module("bn1", group_norm_resnet::norm(width))) {
    int channels = width;
    for (int i = 0; i < 4; ++i) {
      const int to = width << i;
      blocks.emplace_back(channels, to, i == 0 ? 1 : 2);
      blocks.emplace_back(to, to, 1);
      register_module("layer" + std::to_string(i + 1),
                      torch::nn::ModuleList(blocks[blocks.size() - 2], blocks.back()));
      channels = to;
    }
    fc = register_module("fc", torch::nn::Linear(channels, classes));
  }

  torch::Tensor forward(const torch::Tensor& images, Layers& layers) {
    auto x = layers.group_norm(*bn1, layers.convolution(*conv1, images));
    x = torch::max_pool2d(x.relu_(), 3, 2, 1);
    for (auto& block : blocks) x = block->forward(x, layers);
    x = torch::adaptive_avg_pool2d(x, {1, 1});
    return layers.linear(*fc, torch::flatten(x, 1));
  }

  torch::nn::Conv2d conv1;
  torch::nn::GroupNorm bn1;
  std::vector<group_norm_resnet::BasicBlock> blocks;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(GroupNormResNet18);

}  // namespace torchwatch::models
