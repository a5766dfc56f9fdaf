#include "parts/bert.hpp"
#include "parts/block_sparse_attention.hpp"
#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/random_blocks.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace bigbird {

namespace nn = torch::nn;

/// The lengths must be ones for which the original takes its paper's plan of random blocks: 16 or
/// 64 blocks.
struct Size {
  std::int64_t vocabulary = 50'358;
  std::int64_t train_length = 1024;
  std::int64_t eval_length = 4096;
  std::int64_t positions = 4096;
  std::int64_t block = 64;
  std::int64_t random_reach = 1024;  ///< random blocks lie among the first tokens
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000,
                      .train_length = 64,
                      .eval_length = 256,
                      .positions = 256,
                      .block = 4,
                      .random_reach = 64,
                      .width = 192,
                      .hidden = 768};
constexpr std::size_t kRandomBlocks = 3;
constexpr double kDropout = 0.1;
constexpr double kNormEpsilon = 1e-12;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

/// BERT's, but dropped out before they are normalised.
struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const Size& size)
      : word_embeddings(register_module(
            "word_embeddings",
            nn::Embedding(nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(0)))),
        position_embeddings(
            register_module("position_embeddings", nn::Embedding(size.positions, size.width))),
        token_type_embeddings(
            register_module("token_type_embeddings", nn::Embedding(2, size.width))),
        norm(register_module("LayerNorm", layer_norm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        position_ids(register_buffer("position_ids", torch::arange(size.positions).unsqueeze(0))),
        token_type_ids(register_buffer("token_type_ids", torch::zeros_like(position_ids))) {}

  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto length = tokens.size(1);
    const auto types = token_type_ids.narrow(1, 0, length).expand(tokens.sizes());
    auto x = word_embeddings(tokens) + token_type_embeddings(types);
    x += position_embeddings(position_ids.narrow(1, 0, length));
    return norm(dropout(x));
  }

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
  torch::Tensor position_ids, token_type_ids;
};
TORCH_MODULE(Embeddings);

/// Plans its random blocks anew in each forward, from the layer's number: the same plan each time.
struct SelfAttentionImpl : nn::Module {
  SelfAttentionImpl(const Size& size, int layer)
      : heads(size.heads),
        block(size.block),
        blocks{.blocks = size.positions / size.block,
               .reach = size.random_reach / size.block,
               .drawn = kRandomBlocks},
        seed(static_cast<std::uint32_t>(layer)),
        query(register_module("query", nn::Linear(size.width, size.width))),
        key(register_module("key", nn::Linear(size.width, size.width))),
        value(register_module("value", nn::Linear(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const BlockMasks& masks) {
    const auto split = [&](const torch::Tensor& t) {
      return t.view({t.size(0), t.size(1), heads, -1}).permute({0, 2, 1, 3});
    };
    const BlockSparseAttention attention({.query = split(query(x)),
                                          .key = split(key(x)),
                                          .value = split(value(x)),
                                          .plan = plan_for(x),
                                          .masks = masks,
                                          .block = block});
    return attention.context().contiguous().view(x.sizes());
  }

  std::int64_t heads;
  std::int64_t block;
  RandomBlocks::Shape blocks;
  std::uint32_t seed;
  nn::Linear query, key, value;

 private:
  torch::Tensor plan_for(const torch::Tensor& x) const {
    const auto rows = x.size(1) / block - 2;
    RandomBlocks random(blocks, seed);
    std::vector<std::int64_t> plan;
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto of_head = random.draw_head(rows);
      plan.insert(plan.end(), of_head.begin(), of_head.end());
    }
    const auto one = torch::tensor(plan).to(x.device()).view({1, heads, rows, -1});
    return torch::cat(std::vector<torch::Tensor>(static_cast<std::size_t>(x.size(0)), one));
  }
};
TORCH_MODULE(SelfAttention);

struct AttentionImpl : nn::Module {
  AttentionImpl(const Size& size, int layer)
      : self(register_module("self", SelfAttention(size, layer))),
        output(register_module("output", ResidualOutput(ResidualOutputImpl::Options{
                                             .from = size.width, .width = size.width}))) {}

  torch::Tensor forward(const torch::Tensor& x, const BlockMasks& masks) {
    return output(self(x, masks), x);
  }

  SelfAttention self;
  ResidualOutput output;
};
TORCH_MODULE(Attention);

struct LayerImpl : nn::Module {
  LayerImpl(const Size& size, int layer)
      : attention(register_module("attention", Attention(size, layer))),
        intermediate(
            register_module("intermediate", bert::Intermediate(size.width, size.hidden, new_gelu))),
        output(register_module("output", ResidualOutput(ResidualOutputImpl::Options{
                                             .from = size.hidden, .width = size.width}))) {}

  torch::Tensor forward(const torch::Tensor& x, const BlockMasks& masks) {
    const auto attended = attention(x, masks);
    return output(intermediate(attended), attended);
  }

  Attention attention;
  bert::Intermediate intermediate;
  ResidualOutput output;
};
TORCH_MODULE(Layer);

/// BigBird with its masked-language-model head. It pools the first token as well, for nobody.
struct BigBirdImpl : nn::Module {
  explicit BigBirdImpl(const Size& size)
      : block(size.block),
        embeddings(register_module("embeddings", Embeddings(size))),
        layers(register_module("layer", nn::ModuleList())),
        pooler(register_module("pooler", nn::Linear(size.width, size.width))),
        predictions(register_module(
            "predictions", bert::LMPredictionHead(embeddings->word_embeddings->weight, new_gelu))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size, i));
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const auto masks = block_masks(torch::ones(input_ids.sizes(), input_ids.device()), block);
    auto x = embeddings(input_ids);
    for (const auto& layer : *layers) x = layer->as<LayerImpl>()->forward(x, masks);
    const auto pooled = torch::tanh(pooler(x.select(1, 0)));
    LanguageModelOutput output;
    output.logits = predictions(x);
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  std::int64_t block;
  Embeddings embeddings;
  nn::ModuleList layers;
  nn::Linear pooler;
  bert::LMPredictionHead predictions;
};
TORCH_MODULE(BigBird);

}  // namespace bigbird

TORCHWATCH_DEFINE(hf_BigBird) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 2, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .cut = "64 / 256 tokens, blocks of 4, vocabulary 1,000, width 192, hidden 768; batch 1",
          .build = build_language_model<bigbird::BigBird, bigbird::kPaper, bigbird::kSmall>};
}

}  // namespace torchwatch::models
