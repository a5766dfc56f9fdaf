#pragma once

#include <algorithm>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A convolution followed by a batch normalisation: padded so that stride 1 keeps the size, and
/// without a bias, which the normalisation would cancel.
inline torch::nn::Conv2d convolution(int from, int to, int kernel, int stride = 1, int groups = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, kernel)
                               .stride(stride)
                               .padding(kernel / 2)
                               .groups(groups)
                               .bias(false));
}

/// One group for each channel.
inline torch::nn::Conv2d depthwise_convolution(int channels, int kernel, int stride) {
  return convolution(channels, channels, kernel, stride, channels);
}

inline torch::nn::ReLU in_place_relu() {
  return torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true));
}

/// Pads an image so that a window of `kernel` that moves by `stride` gives size / stride outputs,
/// rounded up; an odd rest goes to the right and below, as in TensorFlow.
inline torch::Tensor pad_same(const torch::Tensor& x, std::int64_t kernel, std::int64_t stride,
                              double value = 0) {
  const auto missing = [=](std::int64_t size) {
    const auto outputs = (size + stride - 1) / stride;
    return std::max<std::int64_t>((outputs - 1) * stride + kernel - size, 0);
  };
  const auto high = missing(x.size(-2));
  const auto wide = missing(x.size(-1));
  if (high == 0 && wide == 0) return x;
  return torch::constant_pad_nd(x, {wide / 2, wide - wide / 2, high / 2, high - high / 2}, value);
}

/// A Sequential that can be part of another one: LibTorch's own has a templated forward, which a
/// Sequential cannot hold.
struct NestedSequentialImpl : torch::nn::SequentialImpl {
  using SequentialImpl::SequentialImpl;

  torch::Tensor forward(torch::Tensor x) { return SequentialImpl::forward(std::move(x)); }
};
TORCH_MODULE(NestedSequential);

// The initial weights that torchvision's networks have in common. A deep network without them
// would start with outputs near zero or near infinity.

/// Normal, by the fan-out and for rectifiers; biases 0.
inline void initialise_convolutions(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradients;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    auto* convolution = module->as<torch::nn::Conv2dImpl>();
    if (convolution == nullptr) continue;
    torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
    if (convolution->bias.defined()) convolution->bias.zero_();
  }
}

/// Normal with deviation 0.01; biases 0.
inline void initialise_linear_layers(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradients;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    auto* linear = module->as<torch::nn::LinearImpl>();
    if (linear == nullptr) continue;
    linear->weight.normal_(0, 0.01);
    linear->bias.zero_();
  }
}

}  // namespace torchwatch::models
