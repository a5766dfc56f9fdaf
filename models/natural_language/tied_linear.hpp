#pragma once

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
