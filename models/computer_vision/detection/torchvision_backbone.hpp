#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "../parts/resnet.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection::torchvision {

namespace nn = torch::nn;

/// Batch normalisation by fixed numbers, folded into a scale and a shift in each call.
struct FrozenBatchNorm2dImpl : nn::Module {
  explicit FrozenBatchNorm2dImpl(std::int64_t channels)
      : weight(register_buffer("weight", torch::ones({channels}))),
        bias(register_buffer("bias", torch::zeros({channels}))),
        mean(register_buffer("running_mean", torch::zeros({channels}))),
        var(register_buffer("running_var", torch::ones({channels}))) {}

  /// Nothing is added to the variance: the original sets that to 0 for its published weights.
  torch::Tensor forward(const torch::Tensor& x) {
    const auto scale = (weight * var.rsqrt()).view({1, -1, 1, 1});
    const auto shift = bias.view({1, -1, 1, 1}) - mean.view({1, -1, 1, 1}) * scale;
    return x * scale + shift;
  }

  torch::Tensor weight, bias, mean, var;
};
TORCH_MODULE(FrozenBatchNorm2d);

inline nn::Conv2d unbiased(int from, int to, int kernel, int stride = 1) {
  nn::Conv2d layer(
      nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
  nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
  return layer;
}

/// 1x1, 3x3 and 1x1 convolutions of a quarter of the channels and a shortcut; the 3x3 one strides.
struct BottleneckImpl : nn::Module {
  BottleneckImpl(int from, int to, int stride)
      : conv1(register_module("conv1", unbiased(from, to / 4, 1))),
        bn1(register_module("bn1", FrozenBatchNorm2d(to / 4))),
        conv2(register_module("conv2", unbiased(to / 4, to / 4, 3, stride))),
        bn2(register_module("bn2", FrozenBatchNorm2d(to / 4))),
        conv3(register_module("conv3", unbiased(to / 4, to, 1))),
        bn3(register_module("bn3", FrozenBatchNorm2d(to))) {
    // Features stay around one, as with the published weights, which these replace.
    bn3->weight.fill_(0.1);
    if (from == to) return;
    FrozenBatchNorm2d norm(to);
    norm->weight.fill_(std::numbers::sqrt2);
    downsample = register_module("downsample", nn::Sequential(unbiased(from, to, 1, stride), norm));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y)).relu_();
    y = bn3(conv3(y));
    y += downsample ? downsample->forward(x) : x;
    return y.relu_();
  }

  nn::Conv2d conv1;
  FrozenBatchNorm2d bn1;
  nn::Conv2d conv2;
  FrozenBatchNorm2d bn2;
  nn::Conv2d conv3;
  FrozenBatchNorm2d bn3;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(Bottleneck);

/// The outputs of the four stages of the residual network of 50 layers; stem and first stage are
/// not trained.
struct IntermediateLayerGetterImpl : nn::Module {
  explicit IntermediateLayerGetterImpl(int width)
      : conv1(register_module("conv1", unbiased(3, width, 7, 2))),
        bn1(register_module("bn1", FrozenBatchNorm2d(width))) {
    bn1->weight.fill_(3);
    int from = width;
    for (int i = 0; i < 4; ++i) {
      const int to = 4 * width << i;
      nn::Sequential stage;
      for (int block = 0; block < resnet::kResNet50.blocks[static_cast<std::size_t>(i)]; ++block) {
        stage->push_back(Bottleneck(from, to, i > 0 && block == 0 ? 2 : 1));
        from = to;
      }
      stages.push_back(register_module("layer" + std::to_string(i + 1), stage));
    }
    conv1->weight.requires_grad_(false);
    for (auto& parameter : stages.front()->parameters()) parameter.requires_grad_(false);
  }

  std::vector<torch::Tensor> forward(torch::Tensor x) {
    x = torch::max_pool2d(bn1(conv1(x)).relu_(), 3, 2, 1);
    std::vector<torch::Tensor> outputs;
    for (auto& stage : stages) outputs.push_back(x = stage->forward(x));
    return outputs;
  }

  nn::Conv2d conv1;
  FrozenBatchNorm2d bn1;
  std::vector<nn::Sequential> stages;
};
TORCH_MODULE(IntermediateLayerGetter);

/// A convolution inside a list of layers, as the original nests it.
inline nn::Sequential nested(int from, int to, int kernel) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, kernel).padding(kernel / 2));
  nn::init::kaiming_uniform_(layer->weight, 1);
  nn::init::zeros_(layer->bias);
  return nn::Sequential(layer);
}

/// Features of equal width from all stages, and one coarser level.
struct FeaturePyramidNetworkImpl : nn::Module {
  FeaturePyramidNetworkImpl(int width, int channels)
      : inner(register_module("inner_blocks", nn::ModuleList())),
        layers(register_module("layer_blocks", nn::ModuleList())) {
    for (int i = 0; i < 4; ++i) {
      inner->push_back(nested(4 * width << i, channels, 1));
      layers->push_back(nested(channels, channels, 3));
    }
  }

  /// Finest first.
  std::vector<torch::Tensor> forward(const std::vector<torch::Tensor>& stages) {
    std::vector<torch::Tensor> levels(stages.size());
    torch::Tensor coarser;
    for (std::size_t i = stages.size(); i-- > 0;) {
      const auto lateral = inner[i]->as<nn::Sequential>()->forward(stages[i]);
      coarser = coarser.defined()
                    ? lateral + torch::upsample_nearest2d(coarser, lateral.sizes().slice(2))
                    : lateral;
      levels[i] = layers[i]->as<nn::Sequential>()->forward(coarser);
    }
    levels.push_back(torch::max_pool2d(levels.back(), 1, 2, 0));
    return levels;
  }

  nn::ModuleList inner, layers;
};
TORCH_MODULE(FeaturePyramidNetwork);

struct BackboneWithFPNImpl : nn::Module {
  BackboneWithFPNImpl(int width, int channels)
      : body(register_module("body", IntermediateLayerGetter(width))),
        fpn(register_module("fpn", FeaturePyramidNetwork(width, channels))) {}

  std::vector<torch::Tensor> forward(const torch::Tensor& images) { return fpn(body(images)); }

  IntermediateLayerGetter body;
  FeaturePyramidNetwork fpn;
};
TORCH_MODULE(BackboneWithFPN);

}  // namespace torchwatch::models::detection::torchvision
