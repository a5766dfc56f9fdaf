#include "attention_masks.hpp"
#include "bert_attention.hpp"
#include "bert_embeddings.hpp"
#include "language_model_workload.hpp"
#include "normal_weights.hpp"
#include "tied_linear.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 30'522;
  std::int64_t train_length = 512;
  std::int64_t eval_length = 512;
  std::int64_t positions = 512;
  std::int64_t width = 768;
  std::int64_t hidden = 3072;  ///< of the feed-forward part; the large network's as well
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kBasePaper{};
constexpr Size kBaseSmall{
    .vocabulary = 1000, .train_length = 32, .eval_length = 32, .width = 192, .hidden = 768};
constexpr Size kLargePaper{.width = 1024, .heads = 16, .layers = 24};
constexpr Size kLargeSmall{.vocabulary = 1000,
                           .train_length = 32,
                           .eval_length = 32,
                           .width = 256,
                           .hidden = 768,
                           .heads = 16,
                           .layers = 24};
constexpr double kDropout = 0.1;
constexpr double kNormEpsilon = 1e-12;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const Size& size)
      : heads(size.heads),
        query(register_module("query", nn::Linear(size.width, size.width))),
        key(register_module("key", nn::Linear(size.width, size.width))),
        value(register_module("value", nn::Linear(size.width, size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    return bert_attention({query(x), key(x), value(x)}, mask, heads, dropout);
  }

  std::int64_t heads;
  nn::Linear query, key, value;
  nn::Dropout dropout;
};
TORCH_MODULE(SelfAttention);

/// Back to the network's width, onto what went around the part before.
struct ResidualImpl : nn::Module {
  ResidualImpl(std::int64_t from, std::int64_t width)
      : dense(register_module("dense", nn::Linear(from, width))),
        norm(register_module("LayerNorm", layer_norm(width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& around) {
    return norm(dropout(dense(x)) + around);
  }

  nn::Linear dense;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
TORCH_MODULE(Residual);

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : self(register_module("self", SelfAttention(size))),
        output(register_module("output", Residual(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    return output(self(x, mask), x);
  }

  SelfAttention self;
  Residual output;
};
TORCH_MODULE(Attention);

struct IntermediateImpl : nn::Module {
  explicit IntermediateImpl(const Size& size)
      : dense(register_module("dense", nn::Linear(size.width, size.hidden))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::gelu(dense(x)); }

  nn::Linear dense;
};
TORCH_MODULE(Intermediate);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Size& size)
      : attention(register_module("attention", Attention(size))),
        intermediate(register_module("intermediate", Intermediate(size))),
        output(register_module("output", Residual(size.hidden, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = attention(x, mask);
    return output(intermediate(attended), attended);
  }

  Attention attention;
  Intermediate intermediate;
  Residual output;
};
TORCH_MODULE(Layer);

struct TransformImpl : nn::Module {
  explicit TransformImpl(std::int64_t width)
      : dense(register_module("dense", nn::Linear(width, width))),
        norm(register_module("LayerNorm", layer_norm(width))) {}

  torch::Tensor forward(const torch::Tensor& x) { return norm(torch::gelu(dense(x))); }

  nn::Linear dense;
  nn::LayerNorm norm;
};
TORCH_MODULE(Transform);

/// Guesses tokens. Only the bias is its own; it registers it twice, as the original does.
struct LMPredictionHeadImpl : nn::Module {
  LMPredictionHeadImpl(const Size& size, const torch::Tensor& word_weight)
      : bias(register_parameter("bias", torch::zeros({size.vocabulary}))),
        transform(register_module("transform", Transform(size.width))),
        decoder(register_module("decoder", tied::Linear(word_weight, bias))) {}

  torch::Tensor forward(const torch::Tensor& x) { return decoder(transform(x)); }

  torch::Tensor bias;
  Transform transform;
  tied::Linear decoder;
};
TORCH_MODULE(LMPredictionHead);

/// BERT with its masked-language-model head.
struct BertImpl : nn::Module {
  explicit BertImpl(const Size& size)
      : embeddings(register_module(
            "embeddings",
            BertEmbeddings(BertEmbeddingsSize{size.vocabulary, size.width, size.positions},
                           kNormEpsilon, kDropout))),
        layers(register_module("layer", nn::ModuleList())),
        predictions(register_module("predictions",
                                    LMPredictionHead(size, embeddings->word_embeddings->weight))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size));
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const auto mask = open_mask(input_ids);
    auto x = embeddings(input_ids);
    for (const auto& layer : *layers) x = layer->as<LayerImpl>()->forward(x, mask);
    LanguageModelOutput output;
    output.logits = predictions(x);
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  BertEmbeddings embeddings;
  nn::ModuleList layers;
  LMPredictionHead predictions;
};
TORCH_MODULE(Bert);

}  // namespace

TORCHWATCH_DEFINE(hf_Bert) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 192, hidden 768; batch 2 / 1",
          .build = build_language_model<Bert, kBasePaper, kBaseSmall>};
}

TORCHWATCH_DEFINE(hf_Bert_large) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 256, hidden 768; batch 2 / 1",
          .build = build_language_model<Bert, kLargePaper, kLargeSmall>};
}

}  // namespace torchwatch::models
