#include <algorithm>
#include <cmath>
#include <limits>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 4233;
  std::int64_t frames = 200;
  std::int64_t tokens = 20;
  std::int64_t width = 512;
  std::int64_t hidden = 2048;
  std::int64_t longest_hypothesis = 100;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000,
                      .frames = 40,
                      .tokens = 8,
                      .width = 128,
                      .hidden = 512,
                      .longest_hypothesis = 8};
constexpr std::int64_t kFeatures = 320;
constexpr std::int64_t kHeads = 8;
constexpr std::int64_t kPositions = 5000;
constexpr int kLayers = 6;
constexpr double kDropout = 0.1;
constexpr double kSmoothing = 0.1;
constexpr std::int64_t kBeam = 5;

constexpr std::int64_t kBegin = 1;
constexpr std::int64_t kEnd = 2;
constexpr std::int64_t kFirstCharacter = 3;
constexpr std::int64_t kIgnored = -1;  ///< fills targets up to the longest

/// Sines and cosines of the positions, of falling frequency.
struct PositionalEncodingImpl : nn::Module {
  explicit PositionalEncodingImpl(std::int64_t width) {
    using torch::indexing::None;
    using torch::indexing::Slice;
    const auto position = torch::arange(kPositions, torch::kFloat32).unsqueeze(1);
    const auto frequency = torch::exp(torch::arange(0, width, 2, torch::kFloat32) *
                                      (-std::log(10000.0) / static_cast<double>(width)));
    auto table = torch::zeros({kPositions, width});
    table.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(position * frequency));
    table.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(position * frequency));
    pe = register_buffer("pe", table.unsqueeze(0));
  }

  torch::Tensor forward(const torch::Tensor& sequence) const {
    return pe.narrow(1, 0, sequence.size(1));
  }

  torch::Tensor pe;
};
TORCH_MODULE(PositionalEncoding);

struct MultiHeadAttentionImpl : nn::Module {
  explicit MultiHeadAttentionImpl(std::int64_t width)
      : w_qs(register_module("w_qs", nn::Linear(width, width))),
        w_ks(register_module("w_ks", nn::Linear(width, width))),
        w_vs(register_module("w_vs", nn::Linear(width, width))),
        weight_dropout(register_module("attention", nn::Dropout(kDropout))),
        layer_norm(register_module("layer_norm", nn::LayerNorm(nn::LayerNormOptions({width})))),
        fc(register_module("fc", nn::Linear(width, width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  /// `mask` is true where a query must not look; undefined: it may look everywhere.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& memory,
                        const torch::Tensor& mask) {
    const auto width = query.size(2);
    const auto head_width = width / kHeads;
    const auto q = by_head(w_qs(query));
    const auto k = by_head(w_ks(memory));
    const auto v = by_head(w_vs(memory));
    auto weights = torch::bmm(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(head_width));
    if (mask.defined()) {
      weights = weights.masked_fill(mask.repeat({kHeads, 1, 1}).to(torch::kBool),
                                    -std::numeric_limits<double>::infinity());
    }
    weights = weight_dropout(torch::softmax(weights, 2));
    const auto context = torch::bmm(weights, v)
                             .view({kHeads, query.size(0), query.size(1), head_width})
                             .permute({1, 2, 0, 3})
                             .contiguous()
                             .view({query.size(0), query.size(1), width});
    return layer_norm(dropout(fc(context)) + query);
  }

  nn::Linear w_qs, w_ks, w_vs;
  nn::Dropout weight_dropout;
  nn::LayerNorm layer_norm;
  nn::Linear fc;
  nn::Dropout dropout;

 private:
  /// Heads become part of the batch, before the items.
  static torch::Tensor by_head(const torch::Tensor& x) {
    const auto head_width = x.size(2) / kHeads;
    return x.view({x.size(0), x.size(1), kHeads, head_width})
        .permute({2, 0, 1, 3})
        .contiguous()
        .view({-1, x.size(1), head_width});
  }
};
TORCH_MODULE(MultiHeadAttention);

struct PositionwiseFeedForwardImpl : nn::Module {
  explicit PositionwiseFeedForwardImpl(const Size& size)
      : w_1(register_module("w_1", nn::Linear(size.width, size.hidden))),
        w_2(register_module("w_2", nn::Linear(size.hidden, size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        layer_norm(
            register_module("layer_norm", nn::LayerNorm(nn::LayerNormOptions({size.width})))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return layer_norm(dropout(w_2(torch::relu(w_1(x)))) + x);
  }

  nn::Linear w_1, w_2;
  nn::Dropout dropout;
  nn::LayerNorm layer_norm;
};
TORCH_MODULE(PositionwiseFeedForward);

/// 1 at the frames of each utterance, 0 beyond its end. Asks for each length by itself, as the
/// original.
torch::Tensor present(const torch::Tensor& sequence, const torch::Tensor& lengths) {
  auto mask =
      torch::ones({sequence.size(0), sequence.size(1)}, sequence.options().requires_grad(false));
  for (std::int64_t i = 0; i < sequence.size(0); ++i) {
    mask[i].slice(0, lengths[i].item<std::int64_t>()).fill_(0);
  }
  return mask.unsqueeze(-1);
}

/// For each of `queries` positions, true beyond the end of the utterance.
torch::Tensor absent(const torch::Tensor& sequence, const torch::Tensor& lengths,
                     std::int64_t queries) {
  const auto mask = present(sequence, lengths).squeeze(-1).lt(1);
  return mask.unsqueeze(1).expand({-1, queries, -1});
}

/// 1 where a position would look at a later one.
torch::Tensor later(const torch::Tensor& tokens) {
  const auto length = tokens.size(1);
  const auto bytes = torch::TensorOptions(tokens.device()).dtype(torch::kUInt8);
  return torch::triu(torch::ones({length, length}, bytes), 1)
      .unsqueeze(0)
      .expand({tokens.size(0), -1, -1});
}

struct EncoderLayerImpl : nn::Module {
  explicit EncoderLayerImpl(const Size& size)
      : slf_attn(register_module("slf_attn", MultiHeadAttention(size.width))),
        pos_ffn(register_module("pos_ffn", PositionwiseFeedForward(size))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& present_mask,
                        const torch::Tensor& mask) {
    auto y = slf_attn(x, x, mask);
    y *= present_mask;
    y = pos_ffn(y);
    y *= present_mask;
    return y;
  }

  MultiHeadAttention slf_attn;
  PositionwiseFeedForward pos_ffn;
};
TORCH_MODULE(EncoderLayer);

struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const Size& size)
      : linear_in(register_module("linear_in", nn::Linear(kFeatures, size.width))),
        layer_norm_in(
            register_module("layer_norm_in", nn::LayerNorm(nn::LayerNormOptions({size.width})))),
        positional_encoding(register_module("positional_encoding", PositionalEncoding(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        layer_stack(register_module("layer_stack", nn::ModuleList())) {
    for (int i = 0; i < kLayers; ++i) layer_stack->push_back(EncoderLayer(size));
  }

  torch::Tensor forward(const torch::Tensor& utterances, const torch::Tensor& lengths) {
    const auto present_mask = present(utterances, lengths);
    const auto mask = absent(utterances, lengths, utterances.size(1));
    auto x = dropout(layer_norm_in(linear_in(utterances)) + positional_encoding(utterances));
    for (const auto& layer : *layer_stack) {
      x = layer->as<EncoderLayerImpl>()->forward(x, present_mask, mask);
    }
    return x;
  }

  nn::Linear linear_in;
  nn::LayerNorm layer_norm_in;
  PositionalEncoding positional_encoding;
  nn::Dropout dropout;
  nn::ModuleList layer_stack;
};
TORCH_MODULE(Encoder);

struct DecoderLayerImpl : nn::Module {
  explicit DecoderLayerImpl(const Size& size)
      : slf_attn(register_module("slf_attn", MultiHeadAttention(size.width))),
        enc_attn(register_module("enc_attn", MultiHeadAttention(size.width))),
        pos_ffn(register_module("pos_ffn", PositionwiseFeedForward(size))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory,
                        const torch::Tensor& present_mask, const torch::Tensor& own_mask,
                        const torch::Tensor& memory_mask) {
    auto y = slf_attn(x, x, own_mask);
    y *= present_mask;
    y = enc_attn(y, memory, memory_mask);
    y *= present_mask;
    y = pos_ffn(y);
    y *= present_mask;
    return y;
  }

  MultiHeadAttention slf_attn;
  MultiHeadAttention enc_attn;
  PositionwiseFeedForward pos_ffn;
};
TORCH_MODULE(DecoderLayer);

/// A linear layer without bias whose weight is an embedding's. Modules are counted by their types'
/// names, and in the original this is a Linear.
struct LinearImpl : nn::Module {
  explicit LinearImpl(const torch::Tensor& tied) : weight(register_parameter("weight", tied)) {}

  torch::Tensor forward(const torch::Tensor& x) const { return torch::linear(x, weight); }

  torch::Tensor weight;
};
TORCH_MODULE(Linear);

/// Of equal length: tokens after the beginning, and the same before the end.
struct Shifted {
  torch::Tensor inputs;
  torch::Tensor wanted;
};

struct Prediction {
  torch::Tensor logits;
  torch::Tensor wanted;
};

struct DecoderImpl : nn::Module {
  explicit DecoderImpl(const Size& size)
      : scale(std::sqrt(static_cast<double>(size.width))),
        tgt_word_emb(register_module("tgt_word_emb", nn::Embedding(size.vocabulary, size.width))),
        positional_encoding(register_module("positional_encoding", PositionalEncoding(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))),
        layer_stack(register_module("layer_stack", nn::ModuleList())) {
    for (int i = 0; i < kLayers; ++i) layer_stack->push_back(DecoderLayer(size));
    tgt_word_prj = register_module("tgt_word_prj", Linear(tgt_word_emb->weight));
  }

  Prediction forward(const torch::Tensor& target, const torch::Tensor& memory,
                     const torch::Tensor& lengths) {
    const auto [inputs, wanted] = shifted(target);
    const auto present_mask = inputs.ne(kEnd).to(torch::kFloat32).unsqueeze(-1);
    const auto padding = inputs.eq(kEnd).unsqueeze(1).expand({-1, inputs.size(1), -1});
    const auto own_mask = (padding + later(inputs)).gt(0);
    const auto memory_mask = absent(memory, lengths, inputs.size(1));
    return {tgt_word_prj(decode(inputs, memory, present_mask, own_mask, memory_mask)), wanted};
  }

  /// The logarithms of the next token's probabilities after `tokens`, a batch of one.
  torch::Tensor next(const torch::Tensor& tokens, const torch::Tensor& memory) {
    const auto everything = torch::ones_like(tokens).to(torch::kFloat32).unsqueeze(-1);
    const auto x = decode(tokens, memory, everything, later(tokens), {});
    return torch::log_softmax(tgt_word_prj(x.select(1, -1)), 1);
  }

  double scale;
  nn::Embedding tgt_word_emb;
  PositionalEncoding positional_encoding;
  nn::Dropout dropout;
  nn::ModuleList layer_stack;
  Linear tgt_word_prj{nullptr};

 private:
  static Shifted shifted(const torch::Tensor& target) {
    const auto begin = torch::full({1}, kBegin, target.options());
    const auto end = torch::full({1}, kEnd, target.options());
    std::vector<torch::Tensor> inputs;
    std::vector<torch::Tensor> wanted;
    for (std::int64_t i = 0; i < target.size(0); ++i) {
      const auto tokens = target[i].index({target[i] != kIgnored});
      inputs.push_back(torch::cat({begin, tokens}));
      wanted.push_back(torch::cat({tokens, end}));
    }
    return {nn::utils::rnn::pad_sequence(inputs, /*batch_first=*/true, kEnd),
            nn::utils::rnn::pad_sequence(wanted, /*batch_first=*/true, kIgnored)};
  }

  torch::Tensor decode(const torch::Tensor& tokens, const torch::Tensor& memory,
                       const torch::Tensor& present_mask, const torch::Tensor& own_mask,
                       const torch::Tensor& memory_mask) {
    auto x = dropout(tgt_word_emb(tokens) * scale + positional_encoding(tokens));
    for (const auto& layer : *layer_stack) {
      x = layer->as<DecoderLayerImpl>()->forward(x, memory, present_mask, own_mask, memory_mask);
    }
    return x;
  }
};
TORCH_MODULE(Decoder);

/// Speech to characters (Dong et al. 2018).
struct TransformerImpl : nn::Module {
  explicit TransformerImpl(const Size& size)
      : encoder(register_module("encoder", Encoder(size))),
        decoder(register_module("decoder", Decoder(size))) {
    for (auto& parameter : parameters()) {
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
    }
  }

  Prediction forward(const torch::Tensor& utterances, const torch::Tensor& lengths,
                     const torch::Tensor& target) {
    return decoder(target, encoder(utterances, lengths), lengths);
  }

  Encoder encoder;
  Decoder decoder;
};
TORCH_MODULE(Transformer);

/// What may have been said, as far as it was heard.
struct Hypothesis {
  torch::Tensor score;
  torch::Tensor tokens;  ///< 1 x length
};

/// Looks for the characters said by following the five likeliest beginnings. Each of them goes
/// through the decoder whole and by itself in each round, and scores are compared one by one, as in
/// the original; on a GPU both wait for it.
class BeamSearch {
 public:
  BeamSearch(Decoder decoder, const torch::Tensor& memory, std::int64_t longest)
      : decoder_(std::move(decoder)), memory_(memory), longest_(longest) {
    const auto begin = torch::full({1, 1}, kBegin, memory.options().dtype(torch::kInt64));
    alive_.push_back({torch::zeros({}, memory.options()), begin});
  }

  /// The best; undefined tensors where none has ended.
  Hypothesis run() {
    for (std::int64_t round = 0; round < longest_ && !alive_.empty(); ++round) {
      extend();
      if (round + 1 == longest_) end_all();
      retire();
    }
    keep_best(ended_);
    return ended_.empty() ? Hypothesis{} : ended_.front();
  }

 private:
  static void keep_best(std::vector<Hypothesis>& hypotheses) {
    std::ranges::stable_sort(hypotheses, [](const Hypothesis& one, const Hypothesis& other) {
      return (one.score > other.score).item<bool>();
    });
    if (hypotheses.size() > kBeam) hypotheses.resize(kBeam);
  }

  static torch::Tensor longer(const torch::Tensor& tokens, std::int64_t token) {
    return torch::cat({tokens, torch::full({1, 1}, token, tokens.options())}, 1);
  }

  void extend() {
    std::vector<Hypothesis> best;
    for (const auto& hypothesis : alive_) {
      const auto [scores, tokens] =
          torch::topk(decoder_->next(hypothesis.tokens, memory_), kBeam, 1);
      for (std::int64_t j = 0; j < kBeam; ++j) {
        best.push_back({hypothesis.score + scores[0][j],
                        longer(hypothesis.tokens, tokens[0][j].item<std::int64_t>())});
      }
      keep_best(best);
    }
    alive_ = std::move(best);
  }

  void end_all() {
    for (auto& hypothesis : alive_) hypothesis.tokens = longer(hypothesis.tokens, kEnd);
  }

  void retire() {
    std::vector<Hypothesis> alive;
    for (auto& hypothesis : alive_) {
      const bool has_ended = hypothesis.tokens[0][-1].item<std::int64_t>() == kEnd;
      (has_ended ? ended_ : alive).push_back(std::move(hypothesis));
    }
    alive_ = std::move(alive);
  }

  Decoder decoder_;
  torch::Tensor memory_;
  std::int64_t longest_;
  std::vector<Hypothesis> alive_;
  std::vector<Hypothesis> ended_;
};

/// Cross entropy where each wrong character keeps a share of the probability.
torch::Tensor smoothed_loss(const Prediction& prediction) {
  const auto logits = prediction.logits.view({-1, prediction.logits.size(2)});
  const auto wanted = prediction.wanted.contiguous().view(-1);
  const auto is_token = wanted.ne(kIgnored);
  const auto index = (is_token.to(torch::kInt64) * wanted).view({-1, 1});
  auto shares = torch::zeros_like(logits).scatter(1, index, 1);
  shares =
      shares * (1 - kSmoothing) + (1 - shares) * kSmoothing / static_cast<double>(logits.size(1));
  const auto count = is_token.sum().item<std::int64_t>();
  const auto loss = -(shares * torch::log_softmax(logits, 1)).sum(1);
  return loss.masked_select(is_token).sum() / count;
}

class SpeechTransformerWorkload final : public NetworkWorkload {
 public:
  explicit SpeechTransformerWorkload(const Setup& setup)
      : NetworkWorkload(setup), size_(setup.preset == Preset::paper ? kPaper : kSmall) {
    network_ = Transformer(size_);
    adopt({network_.ptr()});
    utterances_ = place(draw().normal({setup.batch, size_.frames, kFeatures}));
    lengths_ = place(torch::full({setup.batch}, size_.frames, torch::kInt64));
    target_ = place(kFirstCharacter + draw().integers(size_.vocabulary - kFirstCharacter,
                                                      {setup.batch, size_.tokens}));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions().betas({0.9, 0.98}).eps(1e-9));
  }

  /// Infer: finds the likeliest characters.
  void step() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    const auto memory = network_->encoder(utterances_, lengths_);
    BeamSearch(network_->decoder, memory, size_.longest_hypothesis).run();
  }

 protected:
  NamedTensors forward() override {
    const auto prediction = network_->forward(utterances_, lengths_, target_);
    return {{"pred", prediction.logits}, {"gold", prediction.wanted}};
  }

  /// A single utterance.
  void counted_forward() override {
    network_->forward(utterances_.narrow(0, 0, 1), lengths_.narrow(0, 0, 1),
                      target_.narrow(0, 0, 1));
  }

  torch::Tensor loss() override {
    return smoothed_loss(network_->forward(utterances_, lengths_, target_));
  }

  /// What the original takes for a validation updates the network as well, without dropout.
  void train_step() override {
    network_->train();
    update();
    network_->eval();
    update();
  }

 private:
  void update() {
    const auto prediction = network_->forward(utterances_, lengths_, target_);
    const auto value = smoothed_loss(prediction);
    count_correct(prediction);
    optimizer_->zero_grad();
    value.backward();
    set_learning_rate();
    optimizer_->step();
    last_loss_ = value.detach();
    sum_of_losses_ += value.item<double>();  // the original waits here
  }

  /// The original waits for this number too.
  void count_correct(const Prediction& prediction) {
    const auto wanted = prediction.wanted.contiguous().view(-1);
    const auto guess = std::get<1>(prediction.logits.view({-1, prediction.logits.size(2)}).max(1));
    const auto is_correct = guess.eq(wanted).masked_select(wanted.ne(kIgnored));
    correct_ += is_correct.sum().item<std::int64_t>();
  }

  /// Falls with the square root of the steps, after a single one of warming up.
  void set_learning_rate() {
    const auto step = static_cast<double>(++steps_);
    const double rate =
        0.2 / std::sqrt(static_cast<double>(size_.width)) * std::min(1 / std::sqrt(step), step);
    for (auto& group : optimizer_->param_groups()) group.options().set_lr(rate);
  }

  Size size_;
  Transformer network_{nullptr};
  torch::Tensor utterances_;
  torch::Tensor lengths_;
  torch::Tensor target_;
  std::int64_t steps_ = 0;
  std::int64_t correct_ = 0;
  double sum_of_losses_ = 0;
};

}  // namespace

TORCHWATCH_DEFINE(speech_transformer) {
  return {.domain = "speech",
          .task = "recognition",
          .paper = {.train = 32, .infer = 1},
          .small = {.train = 4, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .cut = "40 frames, 8 tokens, vocabulary 1,000, a quarter of each width, batch 4 / 1",
          .build = [](const Setup& setup) -> std::unique_ptr<Workload> {
            return std::make_unique<SpeechTransformerWorkload>(setup);
          }};
}

}  // namespace torchwatch::models
