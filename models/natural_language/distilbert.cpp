#include <cmath>
#include <limits>

#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace distilbert {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 30'522;
  std::int64_t length = 512;
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t positions = 512;
  std::int64_t heads = 12;
  int layers = 6;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000, .length = 32, .width = 192, .hidden = 768};
constexpr double kDropout = 0.1;
constexpr double kNormEpsilon = 1e-12;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const Size& size)
      : word_embeddings(register_module(
            "word_embeddings",
            nn::Embedding(nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(0)))),
        position_embeddings(
            register_module("position_embeddings", nn::Embedding(size.positions, size.width))),
        norm(register_module("LayerNorm", layer_norm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        position_ids(register_buffer("position_ids", torch::arange(size.positions).unsqueeze(0))) {}

  torch::Tensor forward(const torch::Tensor& input_ids) {
    const auto positions = position_ids.narrow(1, 0, input_ids.size(1));
    return dropout(norm(word_embeddings(input_ids) + position_embeddings(positions)));
  }

  nn::Embedding word_embeddings;
  nn::Embedding position_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
  torch::Tensor position_ids;
};
TORCH_MODULE(Embeddings);

/// Attention by plain matrix products, as the model had it at the paper's time.
struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const Size& size)
      : heads(size.heads),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        q_lin(register_module("q_lin", nn::Linear(size.width, size.width))),
        k_lin(register_module("k_lin", nn::Linear(size.width, size.width))),
        v_lin(register_module("v_lin", nn::Linear(size.width, size.width))),
        out_lin(register_module("out_lin", nn::Linear(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto batch = x.size(0);
    const auto width = x.size(2);
    const auto head_width = width / heads;
    const auto split = [&](const torch::Tensor& t) {
      return t.view({batch, -1, heads, head_width}).transpose(1, 2);
    };
    const auto q = split(q_lin(x)) / std::sqrt(static_cast<double>(head_width));
    auto scores = torch::matmul(q, split(k_lin(x)).transpose(2, 3));
    const auto hidden = (mask == 0).view({batch, 1, 1, -1}).expand_as(scores);
    scores = scores.masked_fill(hidden, std::numeric_limits<float>::lowest());
    const auto weights = dropout(torch::softmax(scores, -1));
    const auto context = torch::matmul(weights, split(v_lin(x)));
    return out_lin(context.transpose(1, 2).contiguous().view({batch, -1, width}));
  }

  std::int64_t heads;
  nn::Dropout dropout;
  nn::Linear q_lin, k_lin, v_lin, out_lin;
};
TORCH_MODULE(SelfAttention);

struct FeedForwardImpl : nn::Module {
  explicit FeedForwardImpl(const Size& size)
      : dropout(register_module("dropout", nn::Dropout(kDropout))),
        lin1(register_module("lin1", nn::Linear(size.width, size.hidden))),
        lin2(register_module("lin2", nn::Linear(size.hidden, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x) { return dropout(lin2(torch::gelu(lin1(x)))); }

  nn::Dropout dropout;
  nn::Linear lin1, lin2;
};
TORCH_MODULE(FeedForward);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Size& size)
      : attention(register_module("attention", SelfAttention(size))),
        sa_layer_norm(register_module("sa_layer_norm", layer_norm(size.width))),
        ffn(register_module("ffn", FeedForward(size))),
        output_layer_norm(register_module("output_layer_norm", layer_norm(size.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = sa_layer_norm(attention(x, mask) + x);
    return output_layer_norm(ffn(attended) + attended);
  }

  SelfAttention attention;
  nn::LayerNorm sa_layer_norm;
  FeedForward ffn;
  nn::LayerNorm output_layer_norm;
};
TORCH_MODULE(Layer);

/// The distilled BERT of six layers with its masked-language-model head.
struct DistilBertImpl : nn::Module {
  explicit DistilBertImpl(const Size& size)
      : embeddings(register_module("embeddings", Embeddings(size))),
        layers(register_module("layer", nn::ModuleList())),
        vocab_transform(register_module("vocab_transform", nn::Linear(size.width, size.width))),
        vocab_layer_norm(register_module("vocab_layer_norm", layer_norm(size.width))),
        vocab_projector(register_module(
            "vocab_projector",
            tied::Linear(embeddings->word_embeddings->weight, torch::zeros({size.vocabulary})))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& input_ids) {
    const auto mask = torch::ones(input_ids.sizes(), input_ids.device());
    auto x = embeddings(input_ids);
    for (const auto& layer : *layers) x = layer->as<LayerImpl>()->forward(x, mask);
    return vocab_projector(vocab_layer_norm(torch::gelu(vocab_transform(x))));
  }

  Embeddings embeddings;
  nn::ModuleList layers;
  nn::Linear vocab_transform;
  nn::LayerNorm vocab_layer_norm;
  tied::Linear vocab_projector;

 private:
  void initialise() {
    const torch::NoGradGuard no_gradients;
    constexpr double kDeviation = 0.02;
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* linear = module->as<nn::LinearImpl>()) {
        linear->weight.normal_(0, kDeviation);
        linear->bias.zero_();
      } else if (auto* embedding = module->as<nn::EmbeddingImpl>()) {
        embedding->weight.normal_(0, kDeviation);
        if (embedding->options.padding_idx()) embedding->weight[0].zero_();
      }
    }
  }
};
TORCH_MODULE(DistilBert);

class DistilBertWorkload final : public NetworkWorkload {
 public:
  explicit DistilBertWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = DistilBert(size);
    adopt({network_.ptr()});
    input_ids_ = place(draw().integers(size.vocabulary, {setup.batch, size.length}));
    if (!is_training()) return;
    labels_ = place(draw().integers(size.vocabulary, {setup.batch, size.length}));
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(input_ids_)}}; }

  torch::Tensor loss() override {
    const auto logits = network_->forward(input_ids_);
    return nn::functional::cross_entropy(logits.view({-1, logits.size(-1)}), labels_.view(-1));
  }

  /// Gradients add up, as in the original at the paper's time: it never cleared them.
  void train_step() override {
    const auto value = training_loss();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  DistilBert network_{nullptr};
  torch::Tensor input_ids_;
  torch::Tensor labels_;
};

}  // namespace distilbert

TORCHWATCH_DEFINE(hf_DistilBert) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 8, .infer = 1},
          .small = {.train = 4, .infer = 1},
          .no_autocast = "its mask holds the least float32, which 16 bits cannot",
          .build = build_as<distilbert::DistilBertWorkload>};
}

}  // namespace torchwatch::models
