#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A decoder's inputs in training: the labels one place later, behind a token to start with.
/// Ignored labels become padding.
inline torch::Tensor shifted_labels(const torch::Tensor& labels, std::int64_t start,
                                    std::int64_t padding) {
  constexpr std::int64_t kIgnored = -100;
  const auto followers = labels.size(1) - 1;
  auto shifted = labels.new_zeros(labels.sizes());
  shifted.narrow(1, 1, followers).copy_(labels.narrow(1, 0, followers).clone());
  shifted.select(1, 0).fill_(start);
  return shifted.masked_fill_(shifted == kIgnored, padding);
}

}  // namespace torchwatch::models
