#pragma once

#include <cmath>
#include <numbers>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::tied {

/// A linear layer on the weight of another module, and on a bias of another module where one is
/// given. Called as the original's class is, since modules are counted by class.
struct LinearImpl : torch::nn::Module {
  explicit LinearImpl(const torch::Tensor& shared_weight, const torch::Tensor& shared_bias = {})
      : weight(register_parameter("weight", shared_weight)) {
    if (shared_bias.defined()) bias = register_parameter("bias", shared_bias);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::nn::functional::linear(x, weight, bias);
  }

  torch::Tensor weight, bias;
};
TORCH_MODULE(Linear);

}  // namespace torchwatch::models::tied

namespace torchwatch::models {

/// GELU by its tanh approximation, written out in elementwise operators as GPT-2 has it: the fused
/// operator would be other work.
inline torch::Tensor new_gelu(const torch::Tensor& x) {
  const double slope = std::sqrt(2.0 / std::numbers::pi);
  return 0.5 * x * (1.0 + torch::tanh(slope * (x + 0.044715 * torch::pow(x, 3.0))));
}

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
