#pragma once

#include <cmath>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Projections of tokens, batch x length x width.
struct BertProjections {
  torch::Tensor query, key, value;
};

/// Attention by plain matrix products, as BERT and ALBERT had it at the paper's time.
inline torch::Tensor bert_attention(const BertProjections& of, const torch::Tensor& mask,
                                    std::int64_t heads, torch::nn::Dropout& dropout) {
  const auto batch = of.query.size(0);
  const auto length = of.query.size(1);
  const auto split = [&](const torch::Tensor& x) {
    return x.view({batch, length, heads, -1}).permute({0, 2, 1, 3});
  };
  const auto query = split(of.query);
  const auto key = split(of.key);
  const auto value = split(of.value);
  auto scores = torch::matmul(query, key.transpose(-1, -2));
  scores = scores / std::sqrt(static_cast<double>(query.size(-1)));
  scores = scores + mask;
  const auto weights = dropout(torch::softmax(scores, -1));
  const auto context = torch::matmul(weights, value).permute({0, 2, 1, 3}).contiguous();
  return context.view({batch, length, -1});
}

}  // namespace torchwatch::models
