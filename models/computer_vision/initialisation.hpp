#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

// The initial weights that torchvision's networks have in common. A deep network without them
// would start with outputs near zero or near infinity.

/// Normal, by the fan-out and for rectifiers; biases 0.
inline void initialise_convolutions(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradients;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    auto* convolution = module->as<torch::nn::Conv2dImpl>();
    if (convolution == nullptr) continue;
    torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
    if (convolution->bias.defined()) convolution->bias.zero_();
  }
}

/// Normal with deviation 0.01; biases 0.
inline void initialise_linear_layers(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradients;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    auto* linear = module->as<torch::nn::LinearImpl>();
    if (linear == nullptr) continue;
    linear->weight.normal_(0, 0.01);
    linear->bias.zero_();
  }
}

}  // namespace torchwatch::models
