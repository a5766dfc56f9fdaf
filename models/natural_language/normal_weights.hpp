#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The first weights of BERT and its kin: linear layers and embeddings normal, biases and padding
/// 0.
inline void draw_normal_weights(const torch::nn::Module& network) {
  constexpr double kDeviation = 0.02;
  const torch::NoGradGuard no_gradients;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* linear = module->as<torch::nn::LinearImpl>()) {
      linear->weight.normal_(0, kDeviation);
      if (linear->bias.defined()) linear->bias.zero_();
    } else if (auto* embedding = module->as<torch::nn::EmbeddingImpl>()) {
      embedding->weight.normal_(0, kDeviation);
      const auto& padding = embedding->options.padding_idx();
      if (padding) embedding->weight[*padding].zero_();
    }
  }
}

}  // namespace torchwatch::models
