#pragma once

#include "bert_attention.hpp"
#include "residual_output.hpp"
#include "tied_linear.hpp"

namespace torchwatch::models::bert {

namespace nn = torch::nn;

using Activation = torch::Tensor (*)(const torch::Tensor&);

inline torch::Tensor gelu(const torch::Tensor& x) {
  return torch::gelu(x);
}

struct LayerSize {
  std::int64_t width = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
};

struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const LayerSize& size)
      : heads(size.heads),
        query(register_module("query", nn::Linear(size.width, size.width))),
        key(register_module("key", nn::Linear(size.width, size.width))),
        value(register_module("value", nn::Linear(size.width, size.width))),
        dropout(register_module("dropout", nn::Dropout(0.1))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    return bert_attention({query(x), key(x), value(x)}, mask, heads, dropout);
  }

  std::int64_t heads;
  nn::Linear query, key, value;
  nn::Dropout dropout;
};
TORCH_MODULE(SelfAttention);

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const LayerSize& size)
      : self(register_module("self", SelfAttention(size))),
        output(register_module("output", ResidualOutput(ResidualOutputImpl::Options{
                                             .from = size.width, .width = size.width}))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    return output(self(x, mask), x);
  }

  SelfAttention self;
  ResidualOutput output;
};
TORCH_MODULE(Attention);

/// The wide half of a layer, before it is brought back.
struct IntermediateImpl : nn::Module {
  IntermediateImpl(std::int64_t width, std::int64_t hidden, Activation activate)
      : activation(activate), dense(register_module("dense", nn::Linear(width, hidden))) {}

  torch::Tensor forward(const torch::Tensor& x) { return activation(dense(x)); }

  Activation activation;
  nn::Linear dense;
};
TORCH_MODULE(Intermediate);

struct LayerImpl : nn::Module {
  LayerImpl(const LayerSize& size, Activation activation)
      : attention(register_module("attention", Attention(size))),
        intermediate(
            register_module("intermediate", Intermediate(size.width, size.hidden, activation))),
        output(register_module("output", ResidualOutput(ResidualOutputImpl::Options{
                                             .from = size.hidden, .width = size.width}))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = attention(x, mask);
    return output(intermediate(attended), attended);
  }

  Attention attention;
  Intermediate intermediate;
  ResidualOutput output;
};
TORCH_MODULE(Layer);

struct TransformImpl : nn::Module {
  TransformImpl(std::int64_t width, Activation activate)
      : activation(activate),
        dense(register_module("dense", nn::Linear(width, width))),
        norm(register_module("LayerNorm",
                             nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-12)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return norm(activation(dense(x))); }

  Activation activation;
  nn::Linear dense;
  nn::LayerNorm norm;
};
TORCH_MODULE(Transform);

/// Guesses tokens. Only the bias is its own; it registers it twice, as the original does.
struct LMPredictionHeadImpl : nn::Module {
  LMPredictionHeadImpl(const torch::Tensor& word_weight, Activation activation)
      : bias(register_parameter("bias", torch::zeros({word_weight.size(0)}))),
        transform(register_module("transform", Transform(word_weight.size(1), activation))),
        decoder(register_module("decoder", tied::Linear(word_weight, bias))) {}

  torch::Tensor forward(const torch::Tensor& x) { return decoder(transform(x)); }

  torch::Tensor bias;
  Transform transform;
  tied::Linear decoder;
};
TORCH_MODULE(LMPredictionHead);

}  // namespace torchwatch::models::bert
