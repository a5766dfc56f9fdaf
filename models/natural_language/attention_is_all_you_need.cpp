#include <cmath>

#include "parts/warm_up_schedule.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace attention_is_all_you_need {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 9521;
  std::int64_t length = 32;  ///< in the source and in the target
  std::int64_t width = 512;
  std::int64_t hidden = 2048;
  std::int64_t heads = 8;
  int layers = 6;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000, .length = 16, .width = 128, .hidden = 512};
constexpr std::int64_t kPositions = 200;
constexpr std::int64_t kPadding = 1;
constexpr double kDropout = 0.1;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-6));
}

nn::Linear unbiased(std::int64_t from, std::int64_t to) {
  nn::Linear layer(nn::LinearOptions(from, to).bias(false));
  return layer;
}

struct MultiHeadAttentionImpl : nn::Module {
  explicit MultiHeadAttentionImpl(const Size& size)
      : heads(size.heads),
        w_qs(register_module("w_qs", unbiased(size.width, size.width))),
        w_ks(register_module("w_ks", unbiased(size.width, size.width))),
        w_vs(register_module("w_vs", unbiased(size.width, size.width))),
        fc(register_module("fc", unbiased(size.width, size.width))),
        weight_dropout(register_module("attention", nn::Dropout(kDropout))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        norm(register_module("layer_norm", layer_norm(size.width))) {}

  /// `visible`: which tokens of `memory` each token of `x` may see, batch x (1 or length) x length.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory,
                        const torch::Tensor& visible) {
    const auto batch = x.size(0);
    const auto split = [&](const torch::Tensor& t) {
      return t.view({batch, t.size(1), heads, -1}).transpose(1, 2);
    };
    const auto query = split(w_qs(x));
    const auto key = split(w_ks(memory));
    const auto value = split(w_vs(memory));
    const double temperature = std::sqrt(static_cast<double>(query.size(-1)));
    auto scores = torch::matmul(query / temperature, key.transpose(2, 3));
    scores = scores.masked_fill(visible.unsqueeze(1) == 0, -1e9);
    const auto weights = weight_dropout(torch::softmax(scores, -1));
    const auto context = torch::matmul(weights, value).transpose(1, 2).contiguous();
    auto y = dropout(fc(context.view({batch, x.size(1), -1})));
    y += x;
    return norm(y);
  }

  std::int64_t heads;
  nn::Linear w_qs, w_ks, w_vs, fc;
  nn::Dropout weight_dropout, dropout;
  nn::LayerNorm norm;
};
TORCH_MODULE(MultiHeadAttention);

struct FeedForwardImpl : nn::Module {
  explicit FeedForwardImpl(const Size& size)
      : w_1(register_module("w_1", nn::Linear(size.width, size.hidden))),
        w_2(register_module("w_2", nn::Linear(size.hidden, size.width))),
        norm(register_module("layer_norm", layer_norm(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = dropout(w_2(torch::relu(w_1(x))));
    y += x;
    return norm(y);
  }

  nn::Linear w_1, w_2;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
TORCH_MODULE(FeedForward);

struct EncoderLayerImpl : nn::Module {
  explicit EncoderLayerImpl(const Size& size)
      : slf_attn(register_module("slf_attn", MultiHeadAttention(size))),
        pos_ffn(register_module("pos_ffn", FeedForward(size))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& visible) {
    return pos_ffn(slf_attn(x, x, visible));
  }

  MultiHeadAttention slf_attn;
  FeedForward pos_ffn;
};
TORCH_MODULE(EncoderLayer);

/// The encoder's output, and which of its tokens are none but padding.
struct Memory {
  torch::Tensor tokens;
  torch::Tensor visible;
};

struct DecoderLayerImpl : nn::Module {
  explicit DecoderLayerImpl(const Size& size)
      : slf_attn(register_module("slf_attn", MultiHeadAttention(size))),
        enc_attn(register_module("enc_attn", MultiHeadAttention(size))),
        pos_ffn(register_module("pos_ffn", FeedForward(size))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& visible,
                        const Memory& memory) {
    const auto attended = slf_attn(x, x, visible);
    return pos_ffn(enc_attn(attended, memory.tokens, memory.visible));
  }

  MultiHeadAttention slf_attn, enc_attn;
  FeedForward pos_ffn;
};
TORCH_MODULE(DecoderLayer);

/// Sines in the even columns and cosines in the odd ones, 1 x positions x width, computed in
/// double.
torch::Tensor wave_table(std::int64_t width) {
  using torch::indexing::None;
  using torch::indexing::Slice;
  const auto columns = torch::arange(0, width, 2).to(torch::kFloat64);
  const auto periods = torch::pow(10'000.0, columns / static_cast<double>(width));
  const auto angles = torch::arange(kPositions).to(torch::kFloat64).unsqueeze(1) / periods;
  auto table = torch::zeros({kPositions, width});
  table.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(angles).to(torch::kFloat32));
  table.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(angles).to(torch::kFloat32));
  return table.unsqueeze(0);
}

struct PositionalEncodingImpl : nn::Module {
  explicit PositionalEncodingImpl(std::int64_t width)
      : pos_table(register_buffer("pos_table", wave_table(width))) {}

  torch::Tensor forward(const torch::Tensor& x) const {
    return x + pos_table.narrow(1, 0, x.size(1)).clone().detach();
  }

  torch::Tensor pos_table;
};
TORCH_MODULE(PositionalEncoding);

nn::Embedding word_embedding(const Size& size) {
  nn::Embedding layer(nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(kPadding));
  return layer;
}

struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const Size& size)
      : src_word_emb(register_module("src_word_emb", word_embedding(size))),
        position_enc(register_module("position_enc", PositionalEncoding(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        layers(register_module("layer_stack", nn::ModuleList())),
        norm(register_module("layer_norm", layer_norm(size.width))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(EncoderLayer(size));
  }

  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& visible) {
    auto x = norm(dropout(position_enc(src_word_emb(source))));
    for (const auto& layer : *layers) x = layer->as<EncoderLayerImpl>()->forward(x, visible);
    return x;
  }

  nn::Embedding src_word_emb;
  PositionalEncoding position_enc;
  nn::Dropout dropout;
  nn::ModuleList layers;
  nn::LayerNorm norm;
};
TORCH_MODULE(Encoder);

struct DecoderImpl : nn::Module {
  explicit DecoderImpl(const Size& size)
      : trg_word_emb(register_module("trg_word_emb", word_embedding(size))),
        position_enc(register_module("position_enc", PositionalEncoding(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        layers(register_module("layer_stack", nn::ModuleList())),
        norm(register_module("layer_norm", layer_norm(size.width))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(DecoderLayer(size));
  }

  torch::Tensor forward(const torch::Tensor& target, const torch::Tensor& visible,
                        const Memory& memory) {
    auto x = norm(dropout(position_enc(trg_word_emb(target))));
    for (const auto& layer : *layers) {
      x = layer->as<DecoderLayerImpl>()->forward(x, visible, memory);
    }
    return x;
  }

  nn::Embedding trg_word_emb;
  PositionalEncoding position_enc;
  nn::Dropout dropout;
  nn::ModuleList layers;
  nn::LayerNorm norm;
};
TORCH_MODULE(Decoder);

torch::Tensor without_padding(const torch::Tensor& tokens) {
  return (tokens != kPadding).unsqueeze(-2);
}

/// Which tokens come no later than each, 1 x length x length.
torch::Tensor without_future(const torch::Tensor& tokens) {
  const auto length = tokens.size(1);
  const auto later = torch::triu(torch::ones({1, length, length}, tokens.device()), 1);
  return (1 - later).to(torch::kBool);
}

/// The first transformer, for translation. Source embedding, target embedding and projection are
/// three matrices.
struct TransformerImpl : nn::Module {
  explicit TransformerImpl(const Size& size)
      : encoder(register_module("encoder", Encoder(size))),
        decoder(register_module("decoder", Decoder(size))),
        trg_word_prj(register_module("trg_word_prj", unbiased(size.width, size.vocabulary))) {
    for (const auto& parameter : parameters()) {
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
    }
  }

  /// The logits of all positions of all sentences, in one matrix.
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target) {
    constexpr double kLogitScale = 1.0;
    const auto source_visible = without_padding(source);
    const auto target_visible = without_padding(target) & without_future(target);
    const Memory memory{encoder(source, source_visible), source_visible};
    const auto logits = trg_word_prj(decoder(target, target_visible, memory)) * kLogitScale;
    return logits.view({-1, logits.size(2)});
  }

  Encoder encoder;
  Decoder decoder;
  nn::Linear trg_word_prj;
};
TORCH_MODULE(Transformer);

class TransformerWorkload final : public NetworkWorkload {
 public:
  TransformerWorkload(const Setup& setup, const Size& size)
      : NetworkWorkload(setup), network_(size), schedule_(2.0, size.width, kWarmUp) {
    adopt({network_.ptr()});
    const auto batch = std::int64_t{setup.batch};
    source_ = place(draw().integers(size.vocabulary, {batch, size.length}));
    target_ = place(draw().integers(size.vocabulary, {batch, size.length}));
    if (!is_training()) return;
    gold_ = place(draw().integers(size.vocabulary, {batch * size.length}));
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions().betas({0.9, 0.98}).eps(1e-9));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(source_, target_)}}; }

  torch::Tensor loss() override { return loss_of(network_->forward(source_, target_)); }

  /// Counts the right guesses before the backward; for that the original waits for the device.
  void train_step() override {
    optimizer_->zero_grad();
    const auto logits = network_->forward(source_, target_);
    const auto value = loss_of(logits);
    share_right_ = share_of_right(logits);
    value.backward();
    schedule_.advance(*optimizer_);
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  static constexpr double kWarmUp = 128;

  torch::Tensor loss_of(const torch::Tensor& logits) const {
    return nn::functional::cross_entropy(
        logits, gold_,
        nn::functional::CrossEntropyFuncOptions().ignore_index(kPadding).reduction(torch::kSum));
  }

  /// The fraction of right words among those that are not padding.
  double share_of_right(const torch::Tensor& logits) const {
    const auto guesses = std::get<1>(logits.max(1));
    const auto is_word = gold_.ne(kPadding);
    const auto right = guesses.eq(gold_).masked_select(is_word).sum().item<std::int64_t>();
    const auto words = is_word.sum().item<std::int64_t>();
    return static_cast<double>(right) / static_cast<double>(words);
  }

  Transformer network_;
  WarmUpSchedule schedule_;
  torch::Tensor source_, target_;
  torch::Tensor gold_;
  double share_right_ = 0;
};

}  // namespace attention_is_all_you_need

TORCHWATCH_DEFINE(attention_is_all_you_need_pytorch) {
  return {.domain = "natural language",
          .task = "translation",
          .paper = {.train = 256, .infer = 32},
          .small = {.train = 8, .infer = 8},
          .cut = "16 tokens, vocabulary 1,000, width 128, hidden 512; batch 8",
          .build = build_as<attention_is_all_you_need::TransformerWorkload,
                            attention_is_all_you_need::kPaper, attention_is_all_you_need::kSmall>};
}

}  // namespace torchwatch::models
