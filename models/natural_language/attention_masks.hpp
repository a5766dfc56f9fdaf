#pragma once

#include <limits>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// What is added to attention scores: 0 where `visible` is 1, the lowest number where it is 0.
inline torch::Tensor additive_mask(const torch::Tensor& visible) {
  return torch::rsub(visible, 1.0) * std::numeric_limits<float>::lowest();
}

/// One for each key, batch x 1 x 1 x keys, for tokens or states that begin batch x keys.
inline torch::Tensor all_visible(const torch::Tensor& keys) {
  return torch::ones({keys.size(0), keys.size(1)}, keys.device()).unsqueeze(1).unsqueeze(2);
}

/// The mask that hides nothing: the suite gives none, and the originals make one in each forward.
inline torch::Tensor open_mask(const torch::Tensor& keys) {
  return additive_mask(all_visible(keys));
}

}  // namespace torchwatch::models
