#pragma once

#include <cmath>
#include <numbers>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// GELU by its tanh approximation, written out in elementwise operators as GPT-2 has it: the fused
/// operator would be other work.
inline torch::Tensor new_gelu(const torch::Tensor& x) {
  const double slope = std::sqrt(2.0 / std::numbers::pi);
  return 0.5 * x * (1.0 + torch::tanh(slope * (x + 0.044715 * torch::pow(x, 3.0))));
}

}  // namespace torchwatch::models
