#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// As in every network that normalises batches: padded so that stride 1 keeps the size, and
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

}  // namespace torchwatch::models
