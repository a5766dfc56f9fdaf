#pragma once

#include <limits>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The summand for attention scores: 0 where `visible` is 1, the lowest number where it is 0.
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

/// The position of each token in its sentence, counted from `padding` + 1; padding itself stays at
/// `padding`. RoBERTa and related models number their positions so.
inline torch::Tensor padded_positions(const torch::Tensor& tokens, std::int64_t padding) {
  const auto is_token = tokens.ne(padding).to(torch::kInt32);
  const auto places = torch::cumsum(is_token, 1).to(torch::kInt32) * is_token;
  return places.to(torch::kInt64) + padding;
}

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
