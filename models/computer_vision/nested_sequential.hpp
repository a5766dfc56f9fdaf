#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A Sequential that can be part of another one: LibTorch's own has a templated forward, which a
/// Sequential cannot hold.
struct NestedSequentialImpl : torch::nn::SequentialImpl {
  using SequentialImpl::SequentialImpl;

  torch::Tensor forward(torch::Tensor x) { return SequentialImpl::forward(std::move(x)); }
};
TORCH_MODULE(NestedSequential);

}  // namespace torchwatch::models
