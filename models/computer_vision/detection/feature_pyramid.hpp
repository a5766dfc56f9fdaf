#pragma once

#include <string>
#include <vector>

#include "residual_backbone.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// A convolution with bias, drawn as the pyramid's are.
inline nn::Conv2d pyramid_convolution(int from, int to, int kernel, int stride = 1) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2));
  nn::init::kaiming_uniform_(layer->weight, 1);
  nn::init::zeros_(layer->bias);
  return layer;
}

/// One coarser level by leaving out every other cell.
struct LastLevelMaxPoolImpl : nn::Module {
  std::vector<torch::Tensor> forward(const torch::Tensor& x) {
    return {torch::max_pool2d(x, 1, 2, 0)};
  }
};
TORCH_MODULE(LastLevelMaxPool);

/// Two coarser levels by strided convolutions.
struct LastLevelP6P7Impl : nn::Module {
  explicit LastLevelP6P7Impl(int channels)
      : p6(register_module("p6", pyramid_convolution(channels, channels, 3, 2))),
        p7(register_module("p7", pyramid_convolution(channels, channels, 3, 2))) {}

  std::vector<torch::Tensor> forward(const torch::Tensor& x) {
    const auto first = p6(x);
    return {first, p7(torch::relu(first))};
  }

  nn::Conv2d p6, p7;
};
TORCH_MODULE(LastLevelP6P7);

/// Gives the stages of a residual network, from `first_stage` on, features of equal width: each
/// level is its stage's plus the coarser level's, and a block on top adds coarser levels.
template <typename TopBlock>
struct FPNImpl : nn::Module {
  FPNImpl(const ResNetShape& shape, int first_stage, int channels, TopBlock top_block)
      : first(static_cast<std::size_t>(first_stage)) {
    for (int i = first_stage; i < 4; ++i) {
      const auto number = std::to_string(i + 2);
      laterals.push_back(register_module("fpn_lateral" + number,
                                         pyramid_convolution(4 * shape.width << i, channels, 1)));
      outputs.push_back(
          register_module("fpn_output" + number, pyramid_convolution(channels, channels, 3)));
    }
    top = register_module("top_block", top_block);
    bottom_up = register_module("bottom_up", ResNet(shape));
  }

  /// Finest first.
  std::vector<torch::Tensor> forward(const torch::Tensor& images) {
    const auto stages = bottom_up(images);
    std::vector<torch::Tensor> levels(laterals.size());
    torch::Tensor coarser;
    for (std::size_t i = laterals.size(); i-- > 0;) {
      const auto lateral = laterals[i](stages[first + i]);
      coarser = coarser.defined() ? lateral + doubled(coarser) : lateral;
      levels[i] = outputs[i](coarser);
    }
    for (const auto& level : top(levels.back())) levels.push_back(level);
    return levels;
  }

  static torch::Tensor doubled(const torch::Tensor& x) {
    return torch::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  }

  std::size_t first;
  std::vector<nn::Conv2d> laterals, outputs;
  TopBlock top{nullptr};
  ResNet bottom_up{nullptr};
};

}  // namespace torchwatch::models::detection
