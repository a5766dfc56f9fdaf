#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// How each half of a BERT layer ends: back to the network's width, dropped out, added to what went
/// around that half, normalised.
struct ResidualOutputImpl : torch::nn::Module {
  struct Options {
    std::int64_t from = 0;
    std::int64_t width = 0;
    double norm_epsilon = 1e-12;
  };

  explicit ResidualOutputImpl(const Options& options)
      : dense(register_module("dense", torch::nn::Linear(options.from, options.width))),
        norm(register_module(
            "LayerNorm",
            torch::nn::LayerNorm(
                torch::nn::LayerNormOptions({options.width}).eps(options.norm_epsilon)))),
        dropout(register_module("dropout", torch::nn::Dropout(0.1))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& around) {
    return norm(dropout(dense(x)) + around);
  }

  torch::nn::Linear dense;
  torch::nn::LayerNorm norm;
  torch::nn::Dropout dropout;
};
TORCH_MODULE(ResidualOutput);

}  // namespace torchwatch::models
