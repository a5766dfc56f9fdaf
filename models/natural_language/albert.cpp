#include "parts/bert.hpp"
#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace albert {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 30'000;
  std::int64_t train_length = 512;
  std::int64_t eval_length = 512;
  std::int64_t positions = 512;
  std::int64_t embedding = 128;
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t heads = 12;
  int layers = 12;  ///< passes through the one layer
};
constexpr Size kPaper{};
constexpr Size kSmall{
    .vocabulary = 1000, .train_length = 32, .eval_length = 32, .width = 192, .hidden = 768};
constexpr double kDropout = 0.0;  ///< the published configuration's
constexpr double kNormEpsilon = 1e-12;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : heads(size.heads),
        query(register_module("query", nn::Linear(size.width, size.width))),
        key(register_module("key", nn::Linear(size.width, size.width))),
        value(register_module("value", nn::Linear(size.width, size.width))),
        attention_dropout(register_module("attention_dropout", nn::Dropout(kDropout))),
        output_dropout(register_module("output_dropout", nn::Dropout(kDropout))),
        dense(register_module("dense", nn::Linear(size.width, size.width))),
        norm(register_module("LayerNorm", layer_norm(size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto context =
        bert_attention({query(x), key(x), value(x)}, mask, heads, attention_dropout);
    return norm(x + output_dropout(dense(context)));
  }

  std::int64_t heads;
  nn::Linear query, key, value;
  nn::Dropout attention_dropout, output_dropout;
  nn::Linear dense;
  nn::LayerNorm norm;
};
TORCH_MODULE(Attention);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Size& size)
      : norm(register_module("full_layer_layer_norm", layer_norm(size.width))),
        attention(register_module("attention", Attention(size))),
        ffn(register_module("ffn", nn::Linear(size.width, size.hidden))),
        ffn_output(register_module("ffn_output", nn::Linear(size.hidden, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = attention(x, mask);
    return norm(ffn_output(new_gelu(ffn(attended))) + attended);
  }

  nn::LayerNorm norm;
  Attention attention;
  nn::Linear ffn, ffn_output;
};
TORCH_MODULE(Layer);

/// Guesses tokens. Only the bias is its own; it registers it twice, as the original does.
struct MLMHeadImpl : nn::Module {
  MLMHeadImpl(const Size& size, const torch::Tensor& word_weight)
      : bias(register_parameter("bias", torch::zeros({size.vocabulary}))),
        norm(register_module("LayerNorm", layer_norm(size.embedding))),
        dense(register_module("dense", nn::Linear(size.width, size.embedding))),
        decoder(register_module("decoder", tied::Linear(word_weight, bias))) {}

  torch::Tensor forward(const torch::Tensor& x) { return decoder(norm(new_gelu(dense(x)))); }

  torch::Tensor bias;
  nn::LayerNorm norm;
  nn::Linear dense;
  tied::Linear decoder;
};
TORCH_MODULE(MLMHead);

/// ALBERT with its masked-language-model head: narrow embeddings, one layer passed many times.
struct AlbertImpl : nn::Module {
  explicit AlbertImpl(const Size& size)
      : passes(size.layers),
        embeddings(register_module(
            "embeddings",
            BertEmbeddings(BertEmbeddingsSize{size.vocabulary, size.embedding, size.positions},
                           kNormEpsilon, kDropout))),
        embedding_hidden_mapping_in(
            register_module("embedding_hidden_mapping_in", nn::Linear(size.embedding, size.width))),
        layer(register_module("albert_layer", Layer(size))),
        predictions(
            register_module("predictions", MLMHead(size, embeddings->word_embeddings->weight))) {
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const auto mask = open_mask(input_ids);
    auto x = embedding_hidden_mapping_in(embeddings(input_ids));
    for (int i = 0; i < passes; ++i) x = layer(x, mask);
    LanguageModelOutput output;
    output.logits = predictions(x);
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  int passes;
  BertEmbeddings embeddings;
  nn::Linear embedding_hidden_mapping_in;
  Layer layer;
  MLMHead predictions;
};
TORCH_MODULE(Albert);

}  // namespace albert

TORCHWATCH_DEFINE(hf_Albert) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 8, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 192, hidden 768; batch 2 / 1",
          .build = build_language_model<albert::Albert, albert::kPaper, albert::kSmall>};
}

}  // namespace torchwatch::models
