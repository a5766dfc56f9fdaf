#include <limits>

#include "parts/layers.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace xlmr {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 250'002;
  std::int64_t drawn = 250'000;  ///< tokens lie below
  std::int64_t length = 64;
  std::int64_t width = 1024;
  std::int64_t hidden = 4096;
  std::int64_t heads = 16;
  int layers = 24;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1002, .drawn = 1000, .length = 16, .width = 128, .hidden = 512};
constexpr std::int64_t kPadding = 1;
constexpr std::int64_t kPositions = 512 + kPadding + 1;
constexpr double kDropout = 0.1;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}));
}

/// Says which tokens are padding, and on the device whether any is.
struct Padding {
  torch::Tensor is_padding;
  torch::Tensor has_any;
};

/// Attention over length x batch x width by LibTorch's fused operator.
struct MultiheadAttentionImpl : nn::Module {
  explicit MultiheadAttentionImpl(const Size& size)
      : heads(size.heads),
        k_proj(register_module("k_proj", nn::Linear(size.width, size.width))),
        v_proj(register_module("v_proj", nn::Linear(size.width, size.width))),
        q_proj(register_module("q_proj", nn::Linear(size.width, size.width))),
        out_proj(register_module("out_proj", nn::Linear(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const Padding& padding) {
    const auto length = x.size(0);
    const auto batch = x.size(1);
    const auto biases = torch::cat({q_proj->bias, k_proj->bias, v_proj->bias}).chunk(3);
    const auto project = [&](const nn::Linear& layer, const torch::Tensor& bias) {
      const auto projected = torch::linear(x, layer->weight, bias);
      return projected.view({length, batch * heads, -1})
          .transpose(0, 1)
          .view({batch, heads, length, -1});
    };
    const auto query = project(q_proj, biases[0]);
    const auto key = project(k_proj, biases[1]);
    const auto value = project(v_proj, biases[2]);
    const auto context = at::scaled_dot_product_attention(query, key, value, hiding(padding, query),
                                                          is_training() ? kDropout : 0.0);
    const auto rows = context.permute({2, 0, 1, 3}).contiguous().view({batch * length, -1});
    return out_proj(rows).view({length, batch, -1});
  }

  /// The mask that hides padding. Whether there is some is asked of the device in each layer, for
  /// which the original waits.
  std::optional<torch::Tensor> hiding(const Padding& padding, const torch::Tensor& query) const {
    if (!padding.has_any.item<bool>()) return std::nullopt;
    const auto length = query.size(2);
    const auto lowest = -std::numeric_limits<float>::infinity();
    const auto mask = torch::zeros(padding.is_padding.sizes(), query.options())
                          .masked_fill_(padding.is_padding, lowest);
    return mask.view({-1, 1, 1, length}).expand({-1, heads, -1, -1});
  }

  std::int64_t heads;
  nn::Linear k_proj, v_proj, q_proj, out_proj;
};
TORCH_MODULE(MultiheadAttention);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Size& size)
      : self_attn(register_module("self_attn", MultiheadAttention(size))),
        attention_norm(register_module("self_attn_layer_norm", layer_norm(size.width))),
        dropout(register_module("dropout_module", nn::Dropout(kDropout))),
        fc1(register_module("fc1", nn::Linear(size.width, size.hidden))),
        fc2(register_module("fc2", nn::Linear(size.hidden, size.width))),
        final_norm(register_module("final_layer_norm", layer_norm(size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const Padding& padding) {
    const auto attended = attention_norm(x + dropout(self_attn(x, padding)));
    return final_norm(attended + dropout(fc2(torch::gelu(fc1(attended)))));
  }

  MultiheadAttention self_attn;
  nn::LayerNorm attention_norm;
  nn::Dropout dropout;
  nn::Linear fc1, fc2;
  nn::LayerNorm final_norm;
};
TORCH_MODULE(Layer);

struct LearnedPositionalEmbeddingImpl : nn::EmbeddingImpl {
  explicit LearnedPositionalEmbeddingImpl(std::int64_t width)
      : EmbeddingImpl(nn::EmbeddingOptions(kPositions, width).padding_idx(kPadding)) {}
};
TORCH_MODULE(LearnedPositionalEmbedding);

struct SentenceEncoderImpl : nn::Module {
  explicit SentenceEncoderImpl(const Size& size)
      : version(register_buffer("version", torch::tensor({3.0F}))),
        dropout(register_module("dropout_module", nn::Dropout(kDropout))),
        embed_tokens(register_module(
            "embed_tokens",
            nn::Embedding(
                nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(kPadding)))),
        embed_positions(register_module("embed_positions", LearnedPositionalEmbedding(size.width))),
        norm(register_module("layernorm_embedding", layer_norm(size.width))),
        layers(register_module("layers", nn::ModuleList())) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size));
    draw_normal_weights(*this);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto is_padding = tokens.eq(kPadding);
    const Padding padding{is_padding, is_padding.any()};
    auto x = embed(tokens);
    x = x * (1 - is_padding.unsqueeze(-1).type_as(x) * padding.has_any.type_as(x));
    x = x.transpose(0, 1);
    for (const auto& layer : *layers) x = layer->as<LayerImpl>()->forward(x, padding);
    return x.transpose(0, 1);
  }

  torch::Tensor embed(const torch::Tensor& tokens) {
    constexpr double kScale = 1.0;
    const auto words = kScale * embed_tokens(tokens);
    return dropout(norm(words + embed_positions(padded_positions(tokens, kPadding))));
  }

  torch::Tensor version;
  nn::Dropout dropout;
  nn::Embedding embed_tokens;
  LearnedPositionalEmbedding embed_positions;
  nn::LayerNorm norm;
  nn::ModuleList layers;
};
TORCH_MODULE(SentenceEncoder);

/// Would guess tokens. The benchmark takes the features before it, so it only lies in memory.
struct RobertaLMHeadImpl : nn::Module {
  RobertaLMHeadImpl(const Size& size, const torch::Tensor& word_weight)
      : weight(register_parameter("weight", word_weight)),
        bias(register_parameter("bias", torch::zeros({size.vocabulary}))),
        dense(register_module("dense", nn::Linear(size.width, size.width))),
        norm(register_module("layer_norm", layer_norm(size.width))) {}

  torch::Tensor weight, bias;
  nn::Linear dense;
  nn::LayerNorm norm;
};
TORCH_MODULE(RobertaLMHead);

/// XLM-R, large: RoBERTa for a hundred languages.
struct XlmrImpl : nn::Module {
  explicit XlmrImpl(const Size& size)
      : sentence_encoder(register_module("sentence_encoder", SentenceEncoder(size))),
        lm_head(register_module("lm_head",
                                RobertaLMHead(size, sentence_encoder->embed_tokens->weight))) {}

  /// The last layer's features.
  torch::Tensor forward(const torch::Tensor& tokens) { return sentence_encoder(tokens); }

  SentenceEncoder sentence_encoder;
  RobertaLMHead lm_head;
};
TORCH_MODULE(Xlmr);

class XlmrWorkload final : public NetworkWorkload {
 public:
  XlmrWorkload(const Setup& setup, const Size& size) : NetworkWorkload(setup), network_(size) {
    adopt({network_.ptr()});
    tokens_ = place(draw().integers(size.drawn, {setup.batch, size.length}));
    if (!is_training()) return;
    target_ = place(draw().uniform({setup.batch, size.length, size.width}));
    optimizer_ = std::make_unique<torch::optim::SGD>(parameters(), torch::optim::SGDOptions(0.01));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(tokens_)}}; }

  /// Takes the places in the sentence for the classes, as the original does.
  torch::Tensor loss() override {
    return nn::functional::cross_entropy(network_->forward(tokens_), target_);
  }

  /// Drops the gradients at the end, so they do not live through the next forward.
  void train_step() override {
    const auto value = training_loss();
    value.backward();
    optimizer_->step();
    optimizer_->zero_grad();
    last_loss_ = value.detach();
  }

 private:
  Xlmr network_;
  torch::Tensor tokens_;
  torch::Tensor target_;
};

}  // namespace xlmr

TORCHWATCH_DEFINE(fambench_xlmr) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 96, .infer = 96},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "16 tokens, vocabulary 1,002, width 128, hidden 512; batch 2",
          .build = build_as<xlmr::XlmrWorkload, xlmr::kPaper, xlmr::kSmall>};
}

}  // namespace torchwatch::models
