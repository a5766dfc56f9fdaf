#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

inline torch::nn::ReLU in_place_relu() {
  return torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true));
}

}  // namespace torchwatch::models
