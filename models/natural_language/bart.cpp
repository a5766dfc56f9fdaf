#include <cmath>
#include <limits>

#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace bart {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 50'265;
  std::int64_t train_length = 512;
  std::int64_t eval_length = 512;
  std::int64_t positions = 1024;
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t heads = 12;
  int layers = 6;  ///< in the encoder, and in the decoder
};
constexpr Size kPaper{};
constexpr Size kSmall{
    .vocabulary = 1000, .train_length = 32, .eval_length = 32, .width = 192, .hidden = 768};
constexpr double kDropout = 0.1;
constexpr double kEmbeddingScale = 1.0;
constexpr std::int64_t kPadding = 1;
constexpr std::int64_t kDecoderStart = 2;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}));
}

torch::Tensor dropped(const torch::Tensor& x, const nn::Module& in) {
  return torch::dropout(x, kDropout, in.is_training());
}

/// Learned positions. The first two rows are never used.
struct BartLearnedPositionalEmbeddingImpl : nn::EmbeddingImpl {
  static constexpr std::int64_t kOffset = 2;

  explicit BartLearnedPositionalEmbeddingImpl(const Size& size)
      : nn::EmbeddingImpl(size.positions + kOffset, size.width) {}

  torch::Tensor forward(const torch::Tensor& input_ids) {
    const auto positions =
        torch::arange(input_ids.size(1), weight.device()).expand(input_ids.sizes());
    return nn::EmbeddingImpl::forward(positions + kOffset);
  }
};
TORCH_MODULE(BartLearnedPositionalEmbedding);

struct Attended {
  torch::Tensor output, key, value;
};

/// Attention by plain matrix products over batch and heads as one dimension.
struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : heads(size.heads),
        head_width(size.width / size.heads),
        k_proj(register_module("k_proj", nn::Linear(size.width, size.width))),
        v_proj(register_module("v_proj", nn::Linear(size.width, size.width))),
        q_proj(register_module("q_proj", nn::Linear(size.width, size.width))),
        out_proj(register_module("out_proj", nn::Linear(size.width, size.width))) {}

  /// Attends from `x` to `source`, which is `x` itself or the encoder's state. `mask` may be
  /// undefined.
  Attended forward(const torch::Tensor& x, const torch::Tensor& source, const torch::Tensor& mask) {
    const auto scaled = q_proj(x) * (1.0 / std::sqrt(static_cast<double>(head_width)));
    const auto key = split_heads(k_proj(source));
    const auto value = split_heads(v_proj(source));
    const auto query = flat(split_heads(scaled));
    auto weights = torch::bmm(query, flat(key).transpose(1, 2));
    if (mask.defined()) weights = masked(weights, mask);
    weights = torch::softmax(weights, -1);
    const auto context = torch::bmm(dropped(weights, *this), flat(value));
    return {out_proj(merge_heads(context, x)), key, value};
  }

  std::int64_t heads;
  std::int64_t head_width;
  nn::Linear k_proj, v_proj, q_proj, out_proj;

 private:
  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), -1, heads, head_width}).transpose(1, 2).contiguous();
  }

  torch::Tensor flat(const torch::Tensor& x) const {
    return x.view({x.size(0) * heads, -1, head_width});
  }

  torch::Tensor masked(const torch::Tensor& weights, const torch::Tensor& mask) const {
    const auto by_head = weights.view({-1, heads, weights.size(1), weights.size(2)});
    return (by_head + mask).view(weights.sizes());
  }

  torch::Tensor merge_heads(const torch::Tensor& context, const torch::Tensor& x) const {
    const auto by_head = context.view({x.size(0), heads, x.size(1), head_width});
    return by_head.transpose(1, 2).reshape(x.sizes());
  }
};
TORCH_MODULE(Attention);

struct EncoderLayerImpl : nn::Module {
  explicit EncoderLayerImpl(const Size& size)
      : self_attn(register_module("self_attn", Attention(size))),
        self_attn_layer_norm(register_module("self_attn_layer_norm", layer_norm(size.width))),
        fc1(register_module("fc1", nn::Linear(size.width, size.hidden))),
        fc2(register_module("fc2", nn::Linear(size.hidden, size.width))),
        final_layer_norm(register_module("final_layer_norm", layer_norm(size.width))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto attended =
        self_attn_layer_norm(x + dropped(self_attn(x, x, torch::Tensor()).output, *this));
    const auto hidden = dropped(torch::gelu(fc1(attended)), *this);
    return final_layer_norm(attended + dropped(fc2(hidden), *this));
  }

  Attention self_attn;
  nn::LayerNorm self_attn_layer_norm;
  nn::Linear fc1, fc2;
  nn::LayerNorm final_layer_norm;
};
TORCH_MODULE(EncoderLayer);

/// The result of a decoder's layer: its state, and the keys and values of both its attentions.
struct Decoded {
  torch::Tensor state;
  std::vector<torch::Tensor> cache;
};

struct DecoderLayerImpl : nn::Module {
  explicit DecoderLayerImpl(const Size& size)
      : self_attn(register_module("self_attn", Attention(size))),
        self_attn_layer_norm(register_module("self_attn_layer_norm", layer_norm(size.width))),
        encoder_attn(register_module("encoder_attn", Attention(size))),
        encoder_attn_layer_norm(register_module("encoder_attn_layer_norm", layer_norm(size.width))),
        fc1(register_module("fc1", nn::Linear(size.width, size.hidden))),
        fc2(register_module("fc2", nn::Linear(size.hidden, size.width))),
        final_layer_norm(register_module("final_layer_norm", layer_norm(size.width))) {}

  Decoded forward(const torch::Tensor& x, const torch::Tensor& encoded, const torch::Tensor& mask) {
    const auto own = self_attn(x, x, mask);
    auto state = self_attn_layer_norm(x + dropped(own.output, *this));
    const auto other = encoder_attn(state, encoded, torch::Tensor());
    state = encoder_attn_layer_norm(state + dropped(other.output, *this));
    const auto hidden = dropped(torch::gelu(fc1(state)), *this);
    state = final_layer_norm(state + dropped(fc2(hidden), *this));
    return {state, {own.key, own.value, other.key, other.value}};
  }

  Attention self_attn;
  nn::LayerNorm self_attn_layer_norm;
  Attention encoder_attn;
  nn::LayerNorm encoder_attn_layer_norm;
  nn::Linear fc1, fc2;
  nn::LayerNorm final_layer_norm;
};
TORCH_MODULE(DecoderLayer);

/// The embeddings and layers that encoder and decoder share.
template <typename Layer>
struct StackImpl : nn::Module {
  StackImpl(const Size& size, const torch::Tensor& word_weight)
      : embed_tokens(register_module("embed_tokens",
                                     nn::Embedding(nn::EmbeddingOptions(size.vocabulary, size.width)
                                                       .padding_idx(kPadding)
                                                       ._weight(word_weight)))),
        embed_positions(register_module("embed_positions", BartLearnedPositionalEmbedding(size))),
        layers(register_module("layers", nn::ModuleList())),
        layernorm_embedding(register_module("layernorm_embedding", layer_norm(size.width))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size));
  }

  /// The published configuration scales by 1, which is a multiplication all the same.
  torch::Tensor embed(const torch::Tensor& ids) {
    const auto words = embed_tokens(ids) * kEmbeddingScale;
    return dropped(layernorm_embedding(words + embed_positions(ids)), *this);
  }

  nn::Embedding embed_tokens;
  BartLearnedPositionalEmbedding embed_positions;
  nn::ModuleList layers;
  nn::LayerNorm layernorm_embedding;
};

struct EncoderImpl : StackImpl<EncoderLayer> {
  using StackImpl::StackImpl;

  torch::Tensor forward(const torch::Tensor& ids) {
    auto x = embed(ids);
    for (const auto& layer : *layers) x = layer->as<EncoderLayerImpl>()->forward(x);
    return x;
  }
};
TORCH_MODULE(Encoder);

struct DecoderImpl : StackImpl<DecoderLayer> {
  using StackImpl::StackImpl;

  Decoded forward(const torch::Tensor& ids, const torch::Tensor& encoded) {
    Decoded decoded{embed(ids), {}};
    const auto mask = causal_mask(ids);
    for (const auto& layer : *layers) {
      auto step = layer->as<DecoderLayerImpl>()->forward(decoded.state, encoded, mask);
      decoded.state = step.state;
      for (auto& each : step.cache) decoded.cache.push_back(std::move(each));
    }
    return decoded;
  }

 private:
  static torch::Tensor causal_mask(const torch::Tensor& ids) {
    const auto length = ids.size(1);
    const auto mask =
        torch::full({length, length}, std::numeric_limits<float>::lowest(), ids.device());
    const auto places = torch::arange(length, ids.device());
    mask.masked_fill_(places < (places + 1).view({length, 1}), 0);
    return mask.unsqueeze(0).unsqueeze(0).expand({ids.size(0), 1, length, length});
  }
};
TORCH_MODULE(Decoder);

/// BART with its language-modelling head. One embedding serves encoder, decoder and head.
struct BartImpl : nn::Module {
  explicit BartImpl(const Size& size)
      : shared(register_module(
            "shared",
            nn::Embedding(
                nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(kPadding)))),
        encoder(register_module("encoder", Encoder(size, shared->weight))),
        decoder(register_module("decoder", Decoder(size, shared->weight))),
        final_logits_bias(register_buffer("final_logits_bias", torch::zeros({1, size.vocabulary}))),
        lm_head(register_module("lm_head", tied::Linear(shared->weight))) {
    draw_normal_weights(*this);
  }

  /// Decodes the labels in training, else the inputs. Only then are keys and values kept.
  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const bool learns = labels.defined();
    const auto decoder_ids = learns ? shifted_labels(labels, kDecoderStart, kPadding) : input_ids;
    const auto encoded = encoder(input_ids);
    auto decoded = decoder(decoder_ids, encoded);
    LanguageModelOutput output;
    if (!learns) output.kept = std::move(decoded.cache);
    output.kept.push_back(encoded);
    output.logits = lm_head(decoded.state);
    output.logits = output.logits + final_logits_bias;
    if (learns) output.loss = token_loss(output.logits, labels);
    return output;
  }

  nn::Embedding shared;
  Encoder encoder;
  Decoder decoder;
  torch::Tensor final_logits_bias;
  tied::Linear lm_head;
};
TORCH_MODULE(Bart);

}  // namespace bart

TORCHWATCH_DEFINE(hf_Bart) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 192, hidden 768; batch 2 / 1",
          .build = build_language_model<bart::Bart, bart::kPaper, bart::kSmall>};
}

}  // namespace torchwatch::models
