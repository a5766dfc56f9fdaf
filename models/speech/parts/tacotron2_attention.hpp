#pragma once

#include <cstdint>
#include <limits>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::tacotron2 {

namespace nn = torch::nn;

constexpr std::int64_t kAttention = 128;
constexpr std::int64_t kLocationFilters = 32;
constexpr std::int64_t kLocationKernel = 31;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

using Gain = nn::init::NonlinearityType;

/// A linear layer of its own first values.
struct LinearNormImpl : nn::Module {
  LinearNormImpl(std::int64_t from, std::int64_t to, bool bias, const Gain& gain)
      : linear_layer(
            register_module("linear_layer", nn::Linear(nn::LinearOptions(from, to).bias(bias)))) {
    nn::init::xavier_uniform_(linear_layer->weight, nn::init::calculate_gain(gain));
  }

  torch::Tensor forward(const torch::Tensor& x) { return linear_layer(x); }

  nn::Linear linear_layer;
};
TORCH_MODULE(LinearNorm);

/// A convolution that keeps the length, of its own first values.
struct ConvNormImpl : nn::Module {
  ConvNormImpl(std::int64_t from, std::int64_t to, std::int64_t kernel, bool bias, const Gain& gain)
      : conv(register_module(
            "conv",
            nn::Conv1d(nn::Conv1dOptions(from, to, kernel).padding((kernel - 1) / 2).bias(bias)))) {
    nn::init::xavier_uniform_(conv->weight, nn::init::calculate_gain(gain));
  }

  torch::Tensor forward(const torch::Tensor& x) { return conv(x); }

  nn::Conv1d conv;
};
TORCH_MODULE(ConvNorm);

/// Encodes where the decoder looked before.
struct LocationLayerImpl : nn::Module {
  LocationLayerImpl()
      : location_conv(
            register_module("location_conv",
                            ConvNorm(2, kLocationFilters, kLocationKernel, false, torch::kLinear))),
        location_dense(register_module(
            "location_dense", LinearNorm(kLocationFilters, kAttention, false, torch::kTanh))) {}

  torch::Tensor forward(const torch::Tensor& weights) {
    return location_dense(location_conv(weights).transpose(1, 2));
  }

  ConvNorm location_conv;
  LinearNorm location_dense;
};
TORCH_MODULE(LocationLayer);

/// The memory attended to: the encoder's outputs, a projection of them, and a mask of their ends.
struct Memory {
  torch::Tensor outputs;
  torch::Tensor processed;
  torch::Tensor ended;
};

struct AttentionImpl : nn::Module {
  AttentionImpl(std::int64_t memory, std::int64_t width)
      : query_layer(
            register_module("query_layer", LinearNorm(memory, kAttention, false, torch::kTanh))),
        memory_layer(
            register_module("memory_layer", LinearNorm(width, kAttention, false, torch::kTanh))),
        v(register_module("v", LinearNorm(kAttention, 1, false, torch::kLinear))),
        location_layer(register_module("location_layer", LocationLayer())) {}

  /// The weights of the positions of `memory` for the decoder's state `hidden`.
  torch::Tensor forward(const torch::Tensor& hidden, const Memory& memory,
                        const torch::Tensor& previous_weights) {
    const auto query = query_layer(hidden.unsqueeze(1));
    const auto location = location_layer(previous_weights);
    const auto energies = v(torch::tanh(query + location + memory.processed)).squeeze(-1);
    energies.data().masked_fill_(memory.ended, kHidden);
    return torch::softmax(energies, 1);
  }

  LinearNorm query_layer;
  LinearNorm memory_layer;
  LinearNorm v;
  LocationLayer location_layer;
};
TORCH_MODULE(Attention);

}  // namespace torchwatch::models::tacotron2
