#pragma once

#include <cmath>

#include "layers.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

struct BertEmbeddingsSize {
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  std::int64_t positions = 0;
};

/// Word, position and token-type embeddings, summed and normalised. All tokens are of type 0, and
/// token 0 is padding.
struct BertEmbeddingsImpl : torch::nn::Module {
  BertEmbeddingsImpl(const BertEmbeddingsSize& size, double norm_epsilon, double dropped)
      : word_embeddings(register_module(
            "word_embeddings",
            torch::nn::Embedding(
                torch::nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(0)))),
        position_embeddings(register_module("position_embeddings",
                                            torch::nn::Embedding(size.positions, size.width))),
        token_type_embeddings(
            register_module("token_type_embeddings", torch::nn::Embedding(2, size.width))),
        norm(register_module(
            "LayerNorm",
            torch::nn::LayerNorm(torch::nn::LayerNormOptions({size.width}).eps(norm_epsilon)))),
        dropout(register_module("dropout", torch::nn::Dropout(dropped))),
        position_ids(register_buffer("position_ids", torch::arange(size.positions).unsqueeze(0))),
        token_type_ids(register_buffer("token_type_ids", torch::zeros_like(position_ids))) {}

  torch::Tensor forward(const torch::Tensor& input_ids) {
    const auto length = input_ids.size(1);
    const auto types = token_type_ids.narrow(1, 0, length).expand(input_ids.sizes());
    auto x = word_embeddings(input_ids) + token_type_embeddings(types);
    x += position_embeddings(position_ids.narrow(1, 0, length));
    return dropout(norm(x));
  }

  torch::nn::Embedding word_embeddings;
  torch::nn::Embedding position_embeddings;
  torch::nn::Embedding token_type_embeddings;
  torch::nn::LayerNorm norm;
  torch::nn::Dropout dropout;
  torch::Tensor position_ids;
  torch::Tensor token_type_ids;
};
TORCH_MODULE(BertEmbeddings);

/// Projections of tokens, batch x length x width.
struct BertProjections {
  torch::Tensor query, key, value;
};

/// Attention by plain matrix products, as BERT and ALBERT had it at the paper's time.
inline torch::Tensor bert_attention(const BertProjections& of, const torch::Tensor& mask,
                                    std::int64_t heads, torch::nn::Dropout& dropout) {
  const auto batch = of.query.size(0);
  const auto length = of.query.size(1);
  const auto split = [&](const torch::Tensor& x) {
    return x.view({batch, length, heads, -1}).permute({0, 2, 1, 3});
  };
  const auto query = split(of.query);
  const auto key = split(of.key);
  const auto value = split(of.value);
  auto scores = torch::matmul(query, key.transpose(-1, -2));
  scores = scores / std::sqrt(static_cast<double>(query.size(-1)));
  scores = scores + mask;
  const auto weights = dropout(torch::softmax(scores, -1));
  const auto context = torch::matmul(weights, value).permute({0, 2, 1, 3}).contiguous();
  return context.view({batch, length, -1});
}

/// The end of each half of a BERT layer: back to the network's width, dropout, addition of the
/// residual, normalisation.
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
