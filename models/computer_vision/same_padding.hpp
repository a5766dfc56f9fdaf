#pragma once

#include <algorithm>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

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

}  // namespace torchwatch::models
