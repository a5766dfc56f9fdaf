#include <cmath>
#include <limits>

#include "parts/bert.hpp"
#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/sliding_window.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace longformer {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 50'265;
  std::int64_t train_length = 1024;
  std::int64_t eval_length = 4096;
  std::int64_t positions = 4098;
  std::int64_t window = 512;  ///< lengths are multiples of it
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000,
                      .train_length = 64,
                      .eval_length = 256,
                      .positions = 258,
                      .window = 32,
                      .width = 192,
                      .hidden = 768};
constexpr std::int64_t kPadding = 1;
constexpr double kDropout = 0.1;
constexpr double kNormEpsilon = 1e-5;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

nn::Embedding padded_embedding(std::int64_t rows, std::int64_t width) {
  nn::Embedding layer(nn::EmbeddingOptions(rows, width).padding_idx(kPadding));
  return layer;
}

struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const Size& size)
      : word_embeddings(
            register_module("word_embeddings", padded_embedding(size.vocabulary, size.width))),
        position_embeddings(
            register_module("position_embeddings", padded_embedding(size.positions, size.width))),
        token_type_embeddings(
            register_module("token_type_embeddings", nn::Embedding(1, size.width))),
        norm(register_module("LayerNorm", layer_norm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto positions = padded_positions(tokens, kPadding);
    const auto types = torch::zeros_like(tokens);
    return dropout(norm(word_embeddings(tokens) + position_embeddings(positions) +
                        token_type_embeddings(types)));
  }

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
TORCH_MODULE(Embeddings);

/// Which tokens are hidden, batch x length: as what is added to scores, and as a condition.
struct Mask {
  torch::Tensor added;
  torch::Tensor is_hidden;
};

/// The projections for tokens that see the whole text stay unused, as no token does.
struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const Size& size)
      : heads(size.heads),
        reach(size.window / 2),
        query(register_module("query", nn::Linear(size.width, size.width))),
        key(register_module("key", nn::Linear(size.width, size.width))),
        value(register_module("value", nn::Linear(size.width, size.width))),
        query_global(register_module("query_global", nn::Linear(size.width, size.width))),
        key_global(register_module("key_global", nn::Linear(size.width, size.width))),
        value_global(register_module("value_global", nn::Linear(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& hidden, const Mask& mask) {
    const auto x = hidden.transpose(0, 1);
    const auto split = [&](const torch::Tensor& t) {
      return t.view({t.size(0), t.size(1), heads, -1}).transpose(0, 1);
    };
    auto queries = query(x);
    const auto keys = key(x);
    const auto values = value(x);
    const auto head_width = x.size(2) / heads;
    queries /= std::sqrt(static_cast<double>(head_width));

    auto scores = sliding_window::relative_scores(split(queries), split(keys), reach);
    scores += mask_scores(mask.added);
    auto weights = torch::softmax(scores, -1, torch::kFloat32);
    weights = weights.masked_fill(mask.is_hidden.unsqueeze(2).unsqueeze(3), 0.0);
    weights = torch::dropout(weights, kDropout, is_training());
    const auto context = sliding_window::weighted_values(weights, split(values), reach);
    return context.transpose(0, 1).reshape(x.sizes()).contiguous().transpose(0, 1);
  }

  std::int64_t heads;
  std::int64_t reach;
  nn::Linear query, key, value;
  nn::Linear query_global, key_global, value_global;

 private:
  /// The mask by relative place, got as scores are: as the products of ones with it.
  torch::Tensor mask_scores(const torch::Tensor& added) const {
    const auto is_hidden = (added != 0).unsqueeze(2).unsqueeze(3);
    const auto mask =
        is_hidden.type_as(added).masked_fill(is_hidden, std::numeric_limits<float>::lowest());
    return sliding_window::relative_scores(mask.new_ones(mask.sizes()), mask, reach);
  }
};
TORCH_MODULE(SelfAttention);

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : self(register_module("self", SelfAttention(size))),
        output(register_module(
            "output",
            ResidualOutput(ResidualOutputImpl::Options{
                .from = size.width, .width = size.width, .norm_epsilon = kNormEpsilon}))) {}

  torch::Tensor forward(const torch::Tensor& x, const Mask& mask) {
    return output(self(x, mask), x);
  }

  SelfAttention self;
  ResidualOutput output;
};
TORCH_MODULE(Attention);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Size& size)
      : attention(register_module("attention", Attention(size))),
        intermediate(register_module("intermediate",
                                     bert::Intermediate(size.width, size.hidden, bert::gelu))),
        output(register_module(
            "output",
            ResidualOutput(ResidualOutputImpl::Options{
                .from = size.hidden, .width = size.width, .norm_epsilon = kNormEpsilon}))) {}

  torch::Tensor forward(const torch::Tensor& x, const Mask& mask) {
    const auto attended = attention(x, mask);
    return output(intermediate(attended), attended);
  }

  Attention attention;
  bert::Intermediate intermediate;
  ResidualOutput output;
};
TORCH_MODULE(Layer);

/// Guesses tokens. Only the bias is its own; it registers it twice, as the original does.
struct LMHeadImpl : nn::Module {
  LMHeadImpl(const Size& size, const torch::Tensor& word_weight)
      : bias(register_parameter("bias", torch::zeros({size.vocabulary}))),
        dense(register_module("dense", nn::Linear(size.width, size.width))),
        norm(register_module("layer_norm", layer_norm(size.width))),
        decoder(register_module("decoder", tied::Linear(word_weight, bias))) {}

  torch::Tensor forward(const torch::Tensor& x) { return decoder(norm(torch::gelu(dense(x)))); }

  torch::Tensor bias;
  nn::Linear dense;
  nn::LayerNorm norm;
  tied::Linear decoder;
};
TORCH_MODULE(LMHead);

/// Longformer with its masked-language-model head.
struct LongformerImpl : nn::Module {
  explicit LongformerImpl(const Size& size)
      : embeddings(register_module("embeddings", Embeddings(size))),
        layers(register_module("layer", nn::ModuleList())),
        lm_head(register_module("lm_head", LMHead(size, embeddings->word_embeddings->weight))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size));
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const auto added = open_mask(input_ids).select(1, 0).select(1, 0);
    auto x = embeddings(input_ids);
    const Mask mask{added, added < 0};
    require_no_global(added > 0);
    for (const auto& layer : *layers) x = layer->as<LayerImpl>()->forward(x, mask);
    LanguageModelOutput output;
    output.logits = lm_head(x);
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  Embeddings embeddings;
  nn::ModuleList layers;
  LMHead lm_head;

 private:
  /// The original waits for the device to tell whether some tokens see the whole text, which is not
  /// ported.
  static void require_no_global(const torch::Tensor& is_global) {
    TORCH_CHECK(!is_global.flatten().any().item<bool>(), "no global attention here");
  }
};
TORCH_MODULE(Longformer);

}  // namespace longformer

TORCHWATCH_DEFINE(hf_Longformer) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 2, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .cut = "64 / 256 tokens, windows of 32, vocabulary 1,000, width 192, hidden 768; batch 1",
          .build =
              build_language_model<longformer::Longformer, longformer::kPaper, longformer::kSmall>};
}

}  // namespace torchwatch::models
