#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The place of each token in its sentence, counted from `padding` + 1 and without padding, which
/// stays at `padding`: how RoBERTa and its kin number their positions.
inline torch::Tensor padded_positions(const torch::Tensor& tokens, std::int64_t padding) {
  const auto is_token = tokens.ne(padding).to(torch::kInt32);
  const auto places = torch::cumsum(is_token, 1).to(torch::kInt32) * is_token;
  return places.to(torch::kInt64) + padding;
}

}  // namespace torchwatch::models
