#include "parts/bert.hpp"

#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/tokens.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace bert {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 30'522;
  std::int64_t train_length = 512;
  std::int64_t eval_length = 512;
  std::int64_t positions = 512;
  std::int64_t width = 768;
  std::int64_t hidden = 3072;  ///< for the feed-forward part; the large network's as well
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

/// BERT with its masked-language-model head.
struct BertImpl : nn::Module {
  explicit BertImpl(const Size& size)
      : embeddings(register_module(
            "embeddings",
            BertEmbeddings(BertEmbeddingsSize{size.vocabulary, size.width, size.positions},
                           kNormEpsilon, kDropout))),
        layers(register_module("layer", nn::ModuleList())),
        predictions(register_module(
            "predictions",
            bert::LMPredictionHead(embeddings->word_embeddings->weight, bert::gelu))) {
    const bert::LayerSize layer{size.width, size.hidden, size.heads};
    for (int i = 0; i < size.layers; ++i) layers->push_back(bert::Layer(layer, bert::gelu));
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    const auto mask = open_mask(input_ids);
    auto x = embeddings(input_ids);
    for (const auto& layer : *layers) x = layer->as<bert::LayerImpl>()->forward(x, mask);
    LanguageModelOutput output;
    output.logits = predictions(x);
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  BertEmbeddings embeddings;
  nn::ModuleList layers;
  bert::LMPredictionHead predictions;
};
TORCH_MODULE(Bert);

}  // namespace bert

TORCHWATCH_DEFINE(hf_Bert) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 192, hidden 768; batch 2 / 1",
          .build = build_language_model<bert::Bert, bert::kBasePaper, bert::kBaseSmall>};
}

TORCHWATCH_DEFINE(hf_Bert_large) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .cut = "32 tokens, vocabulary 1,000, width 256, hidden 768; batch 2 / 1",
          .build = build_language_model<bert::Bert, bert::kLargePaper, bert::kLargeSmall>};
}

}  // namespace torchwatch::models
