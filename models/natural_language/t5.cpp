#include <cmath>

#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/t5_position_buckets.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace t5 {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 32'128;
  std::int64_t train_length = 1024;
  std::int64_t eval_length = 2048;
  std::int64_t width = 512;
  std::int64_t hidden = 2048;
  std::int64_t heads = 8;
  std::int64_t head_width = 64;
  int layers = 6;  ///< in the encoder, and in the decoder
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000,
                      .train_length = 32,
                      .eval_length = 64,
                      .width = 128,
                      .hidden = 512,
                      .head_width = 16};
constexpr Size kBasePaper{.width = 768, .hidden = 3072, .heads = 12, .layers = 12};
constexpr Size kBaseSmall{.vocabulary = 1000,
                          .train_length = 32,
                          .eval_length = 64,
                          .width = 192,
                          .hidden = 768,
                          .heads = 12,
                          .head_width = 16,
                          .layers = 12};
constexpr Size kLargePaper{.train_length = 512,
                           .eval_length = 512,
                           .width = 1024,
                           .hidden = 4096,
                           .heads = 16,
                           .layers = 24};
constexpr Size kLargeSmall{.vocabulary = 1000,
                           .train_length = 32,
                           .eval_length = 32,
                           .width = 128,
                           .hidden = 512,
                           .heads = 16,
                           .head_width = 8,
                           .layers = 24};
constexpr std::int64_t kBuckets = 32;
constexpr std::int64_t kPadding = 0;
constexpr std::int64_t kDecoderStart = 0;
constexpr double kDropout = 0.1;

double inverse_root(std::int64_t of) {
  return 1.0 / std::sqrt(static_cast<double>(of));
}

nn::Linear linear(std::int64_t from, std::int64_t to, double deviation) {
  const torch::NoGradGuard no_gradients;
  nn::Linear layer(nn::LinearOptions(from, to).bias(false));
  layer->weight.normal_(0, deviation);
  return layer;
}

nn::Embedding embedding(std::int64_t rows, std::int64_t width, double deviation) {
  const torch::NoGradGuard no_gradients;
  nn::Embedding layer(rows, width);
  layer->weight.normal_(0, deviation);
  return layer;
}

/// Divides by the root of the mean square: no mean is taken off, no bias added.
struct T5LayerNormImpl : nn::Module {
  explicit T5LayerNormImpl(std::int64_t width)
      : weight(register_parameter("weight", torch::ones({width}))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    constexpr double kEpsilon = 1e-6;
    const auto variance = x.to(torch::kFloat32).pow(2).mean(-1, /*keepdim=*/true);
    return weight * (x * torch::rsqrt(variance + kEpsilon));
  }

  torch::Tensor weight;
};
TORCH_MODULE(T5LayerNorm);

/// The keys for which an attention learns a bias by relative position, if for any.
enum class PositionBias { none, both_ways, backward };

struct Attended {
  torch::Tensor output, key, value;
  torch::Tensor bias;  ///< positions and mask; the stack's first layer makes it for all
};

/// Attention by plain matrix products, not scaled.
struct AttentionImpl : nn::Module {
  AttentionImpl(const Size& size, PositionBias position_bias)
      : heads(size.heads),
        head_width(size.head_width),
        both_ways(position_bias == PositionBias::both_ways),
        q(register_module("q", linear(size.width, inner(), inverse_root(size.width * head_width)))),
        k(register_module("k", linear(size.width, inner(), inverse_root(size.width)))),
        v(register_module("v", linear(size.width, inner(), inverse_root(size.width)))),
        o(register_module("o", linear(inner(), size.width, inverse_root(inner())))) {
    if (position_bias == PositionBias::none) return;
    relative_attention_bias = register_module("relative_attention_bias",
                                              embedding(kBuckets, heads, inverse_root(size.width)));
  }

  /// Attends from `x` to `source`, which is `x` itself or the encoder's state. An undefined `bias`
  /// is computed, with `mask` in it.
  Attended forward(const torch::Tensor& x, const torch::Tensor& source, const torch::Tensor& mask,
                   torch::Tensor bias) {
    const auto query = split_heads(q(x));
    const auto key = split_heads(k(source));
    const auto value = split_heads(v(source));
    auto scores = torch::matmul(query, key.transpose(3, 2));
    if (!bias.defined()) bias = positions_of(scores) + mask;
    scores += bias;
    const auto weights = torch::dropout(torch::softmax(scores, -1), kDropout, is_training());
    const auto context = torch::matmul(weights, value).transpose(1, 2).contiguous();
    return {o(context.view({x.size(0), -1, inner()})), key, value, bias};
  }

  std::int64_t heads;
  std::int64_t head_width;
  bool both_ways;
  nn::Linear q, k, v, o;
  nn::Embedding relative_attention_bias{nullptr};

 private:
  std::int64_t inner() const { return heads * head_width; }

  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), -1, heads, head_width}).transpose(1, 2);
  }

  torch::Tensor positions_of(const torch::Tensor& scores) {
    const auto queries = scores.size(2);
    const auto keys = scores.size(3);
    if (!relative_attention_bias) {
      return torch::zeros({1, heads, queries, keys}, scores.options());
    }
    const auto buckets = t5_position_buckets(queries, keys, kBuckets, both_ways, scores.device());
    return relative_attention_bias(buckets).permute({2, 0, 1}).unsqueeze(0);
  }
};
TORCH_MODULE(Attention);

/// A residual branch: normalise, attend, drop, add.
struct AttentionLayerImpl : nn::Module {
  AttentionLayerImpl(const std::string& name, const Size& size, PositionBias position_bias)
      : attention(register_module(name, Attention(size, position_bias))),
        layer_norm(register_module("layer_norm", T5LayerNorm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  /// `source` undefined: attends to x itself.
  Attended forward(const torch::Tensor& x, const torch::Tensor& source, const torch::Tensor& mask,
                   const torch::Tensor& bias) {
    const auto normed = layer_norm(x);
    auto attended = attention(normed, source.defined() ? source : normed, mask, bias);
    attended.output = x + dropout(attended.output);
    return attended;
  }

  Attention attention;
  T5LayerNorm layer_norm;
  nn::Dropout dropout;
};
TORCH_MODULE(AttentionLayer);

struct DenseReluDenseImpl : nn::Module {
  explicit DenseReluDenseImpl(const Size& size)
      : wi(register_module("wi", linear(size.width, size.hidden, inverse_root(size.width)))),
        wo(register_module("wo", linear(size.hidden, size.width, inverse_root(size.hidden)))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x) { return wo(dropout(torch::relu(wi(x)))); }

  nn::Linear wi, wo;
  nn::Dropout dropout;
};
TORCH_MODULE(DenseReluDense);

struct FeedForwardLayerImpl : nn::Module {
  explicit FeedForwardLayerImpl(const Size& size)
      : dense(register_module("DenseReluDense", DenseReluDense(size))),
        layer_norm(register_module("layer_norm", T5LayerNorm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x) { return x + dropout(dense(layer_norm(x))); }

  DenseReluDense dense;
  T5LayerNorm layer_norm;
  nn::Dropout dropout;
};
TORCH_MODULE(FeedForwardLayer);

/// The state that a stack passes from layer to layer.
struct StackState {
  torch::Tensor x;
  torch::Tensor own_mask, own_bias;
  torch::Tensor encoded, encoded_mask, encoded_bias;  ///< undefined in the encoder
  std::vector<torch::Tensor> cache;                   ///< the decoder's keys and values
};

struct BlockImpl : nn::Module {
  BlockImpl(const Size& size, bool decodes, bool is_first)
      : layers(register_module("layer", nn::ModuleList())) {
    const auto learned = decodes ? PositionBias::backward : PositionBias::both_ways;
    own = AttentionLayer("SelfAttention", size, is_first ? learned : PositionBias::none);
    layers->push_back(own);
    if (decodes) {
      other = AttentionLayer("EncDecAttention", size, PositionBias::none);
      layers->push_back(other);
    }
    feed_forward = FeedForwardLayer(size);
    layers->push_back(feed_forward);
  }

  void forward(StackState& state) {
    const auto attended = own(state.x, torch::Tensor(), state.own_mask, state.own_bias);
    state.x = attended.output;
    state.own_bias = attended.bias;
    if (other) attend_to_encoder(state, attended);
    state.x = feed_forward(state.x);
  }

  nn::ModuleList layers;
  AttentionLayer own{nullptr};
  AttentionLayer other{nullptr};
  FeedForwardLayer feed_forward{nullptr};

 private:
  void attend_to_encoder(StackState& state, const Attended& before) {
    const auto attended = other(state.x, state.encoded, state.encoded_mask, state.encoded_bias);
    state.x = attended.output;
    state.encoded_bias = attended.bias;
    state.cache.insert(state.cache.end(), {before.key, before.value, attended.key, attended.value});
  }
};
TORCH_MODULE(Block);

struct StackOutput {
  torch::Tensor x;
  std::vector<torch::Tensor> cache;
};

/// Encoder or decoder. The words' embedding is the network's, which registers it.
struct StackImpl : nn::Module {
  StackImpl(const Size& size, nn::Embedding shared, bool decodes)
      : words(std::move(shared)),
        blocks(register_module("block", nn::ModuleList())),
        final_layer_norm(register_module("final_layer_norm", T5LayerNorm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {
    for (int i = 0; i < size.layers; ++i) blocks->push_back(Block(size, decodes, i == 0));
  }

  /// `encoded` undefined: encodes.
  StackOutput forward(const torch::Tensor& ids, const torch::Tensor& encoded) {
    StackState state;
    const auto embedded = words(ids);
    state.own_mask = encoded.defined() ? causal_mask(embedded) : open_mask(embedded);
    if (encoded.defined()) {
      state.encoded = encoded;
      state.encoded_mask = open_mask(encoded);
    }
    state.x = dropout(embedded);
    for (const auto& block : *blocks) block->as<BlockImpl>()->forward(state);
    return {dropout(final_layer_norm(state.x)), std::move(state.cache)};
  }

  nn::Embedding words;
  nn::ModuleList blocks;
  T5LayerNorm final_layer_norm;
  nn::Dropout dropout;

 private:
  static torch::Tensor causal_mask(const torch::Tensor& x) {
    const auto length = x.size(1);
    const auto places = torch::arange(length, x.device());
    const auto keys = places.view({1, 1, length}).repeat({x.size(0), length, 1});
    const auto visible = (keys <= places.view({1, length, 1})).to(torch::kFloat32);
    return additive_mask(visible.unsqueeze(1) * all_visible(x));
  }
};
TORCH_MODULE(Stack);

/// T5 with its language-modelling head. Returns keys and values in training too.
struct T5Impl : nn::Module {
  explicit T5Impl(const Size& size)
      : head_scale(inverse_root(size.width)),
        shared(register_module("shared", embedding(size.vocabulary, size.width, 1.0))),
        encoder(register_module("encoder", Stack(size, shared, /*decodes=*/false))),
        decoder(register_module("decoder", Stack(size, shared, /*decodes=*/true))),
        lm_head(register_module("lm_head", tied::Linear(shared->weight))) {}

  /// Decodes the labels in training, else the inputs.
  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const bool learns = labels.defined();
    const auto encoded = encoder(input_ids, torch::Tensor()).x;
    const auto decoder_ids = learns ? shifted_labels(labels, kDecoderStart, kPadding) : input_ids;
    auto decoded = decoder(decoder_ids, encoded);
    LanguageModelOutput output;
    output.kept = std::move(decoded.cache);
    output.kept.push_back(encoded);
    output.logits = lm_head(decoded.x * head_scale);
    if (learns) output.loss = token_loss(output.logits, labels);
    return output;
  }

  double head_scale;
  nn::Embedding shared;
  Stack encoder, decoder;
  tied::Linear lm_head;
};
TORCH_MODULE(T5);

}  // namespace t5

TORCHWATCH_DEFINE(hf_T5) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 8, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 / 64 tokens, vocabulary 1,000, width 128, hidden 512; batch 2 / 1",
          .build = build_language_model<t5::T5, t5::kPaper, t5::kSmall>};
}

TORCHWATCH_DEFINE(hf_T5_base) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 8, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 / 64 tokens, vocabulary 1,000, width 192, hidden 768; batch 2 / 1",
          .build = build_language_model<t5::T5, t5::kBasePaper, t5::kBaseSmall>};
}

TORCHWATCH_DEFINE(hf_T5_large) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 2, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 128, hidden 512; batch 1",
          .build = build_language_model<t5::T5, t5::kLargePaper, t5::kLargeSmall>};
}

}  // namespace torchwatch::models
