#pragma once

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

}  // namespace torchwatch::models
