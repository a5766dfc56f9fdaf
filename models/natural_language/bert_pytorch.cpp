#include <cmath>

#include "parts/warm_up_schedule.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace bert_pytorch {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 20'005;
  std::int64_t length = 128;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000, .length = 32, .width = 192};
constexpr std::int64_t kPositions = 512;
constexpr std::int64_t kSegments = 3;  ///< padding, first and second sentence
constexpr std::int64_t kPadding = 0;
constexpr double kDropout = 0.1;

/// Written out in elementwise operators, with the unbiased deviation in place of the root of the
/// variance.
struct LayerNormImpl : nn::Module {
  explicit LayerNormImpl(std::int64_t width)
      : a_2(register_parameter("a_2", torch::ones({width}))),
        b_2(register_parameter("b_2", torch::zeros({width}))) {}

  torch::Tensor forward(const torch::Tensor& x) const {
    constexpr double kEpsilon = 1e-6;
    const auto mean = x.mean(-1, /*keepdim=*/true);
    const auto deviation = x.std(-1, /*unbiased=*/true, /*keepdim=*/true);
    return a_2 * (x - mean) / (deviation + kEpsilon) + b_2;
  }

  torch::Tensor a_2, b_2;
};
TORCH_MODULE(LayerNorm);

struct TokenEmbeddingImpl : nn::EmbeddingImpl {
  TokenEmbeddingImpl(std::int64_t vocabulary, std::int64_t width)
      : EmbeddingImpl(nn::EmbeddingOptions(vocabulary, width).padding_idx(kPadding)) {}
};
TORCH_MODULE(TokenEmbedding);

struct SegmentEmbeddingImpl : nn::EmbeddingImpl {
  explicit SegmentEmbeddingImpl(std::int64_t width)
      : EmbeddingImpl(nn::EmbeddingOptions(kSegments, width).padding_idx(kPadding)) {}
};
TORCH_MODULE(SegmentEmbedding);

/// Sines in the even columns and cosines in the odd ones, 1 x positions x width.
torch::Tensor wave_table(std::int64_t width) {
  using torch::indexing::None;
  using torch::indexing::Slice;
  const auto columns = torch::arange(0, width, 2).to(torch::kFloat32);
  const auto speeds = (columns * (-std::log(10000.0) / static_cast<double>(width))).exp();
  const auto angles = torch::arange(kPositions).to(torch::kFloat32).unsqueeze(1) * speeds;
  auto table = torch::zeros({kPositions, width});
  table.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(angles));
  table.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(angles));
  return table.unsqueeze(0);
}

struct PositionalEmbeddingImpl : nn::Module {
  explicit PositionalEmbeddingImpl(std::int64_t width)
      : pe(register_buffer("pe", wave_table(width))) {}

  torch::Tensor forward(const torch::Tensor& tokens) const {
    return pe.narrow(1, 0, tokens.size(1));
  }

  torch::Tensor pe;
};
TORCH_MODULE(PositionalEmbedding);

struct InputEmbeddingImpl : nn::Module {
  explicit InputEmbeddingImpl(const Size& size)
      : token(register_module("token", TokenEmbedding(size.vocabulary, size.width))),
        position(register_module("position", PositionalEmbedding(size.width))),
        segment(register_module("segment", SegmentEmbedding(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& segments) {
    return dropout(token(tokens) + position(tokens) + segment(segments));
  }

  TokenEmbedding token;
  PositionalEmbedding position;
  SegmentEmbedding segment;
  nn::Dropout dropout;
};
TORCH_MODULE(InputEmbedding);

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : heads(size.heads),
        linear_layers(register_module("linear_layers", nn::ModuleList())),
        output_linear(register_module("output_linear", nn::Linear(size.width, size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {
    for (int i = 0; i < 3; ++i) linear_layers->push_back(nn::Linear(size.width, size.width));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& visible) {
    const auto batch = x.size(0);
    const auto width = x.size(2);
    const auto head_width = width / heads;
    const auto project = [&](std::size_t i) {
      const auto projected = linear_layers->ptr<nn::LinearImpl>(i)->forward(x);
      return projected.view({batch, -1, heads, head_width}).transpose(1, 2);
    };
    const auto query = project(0);
    const auto key = project(1);
    const auto value = project(2);
    auto scores =
        torch::matmul(query, key.transpose(-2, -1)) / std::sqrt(static_cast<double>(head_width));
    scores = scores.masked_fill(visible == 0, -1e9);
    const auto weights = dropout(torch::softmax(scores, -1));
    const auto context = torch::matmul(weights, value);
    return output_linear(context.transpose(1, 2).contiguous().view({batch, -1, width}));
  }

  std::int64_t heads;
  nn::ModuleList linear_layers;
  nn::Linear output_linear;
  nn::Dropout dropout;
};
TORCH_MODULE(Attention);

struct FeedForwardImpl : nn::Module {
  explicit FeedForwardImpl(std::int64_t width)
      : w_1(register_module("w_1", nn::Linear(width, 4 * width))),
        w_2(register_module("w_2", nn::Linear(4 * width, width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x) { return w_2(dropout(torch::gelu(w_1(x)))); }

  nn::Linear w_1, w_2;
  nn::Dropout dropout;
};
TORCH_MODULE(FeedForward);

/// Normalises before a part and adds what went around it after.
struct SublayerImpl : nn::Module {
  explicit SublayerImpl(std::int64_t width)
      : norm(register_module("norm", LayerNorm(width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  template <typename Part>
  torch::Tensor forward(const torch::Tensor& x, Part part) {
    return x + dropout(part(norm(x)));
  }

  LayerNorm norm;
  nn::Dropout dropout;
};
TORCH_MODULE(Sublayer);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Size& size)
      : attention(register_module("attention", Attention(size))),
        feed_forward(register_module("feed_forward", FeedForward(size.width))),
        input_sublayer(register_module("input_sublayer", Sublayer(size.width))),
        output_sublayer(register_module("output_sublayer", Sublayer(size.width))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& visible) {
    const auto attend = [&](const torch::Tensor& y) { return attention(y, visible); };
    const auto feed = [&](const torch::Tensor& y) { return feed_forward(y); };
    const auto attended = input_sublayer->forward(x, attend);
    return dropout(output_sublayer->forward(attended, feed));
  }

  Attention attention;
  FeedForward feed_forward;
  Sublayer input_sublayer, output_sublayer;
  nn::Dropout dropout;
};
TORCH_MODULE(Block);

struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const Size& size)
      : embedding(register_module("embedding", InputEmbedding(size))),
        blocks(register_module("transformer_blocks", nn::ModuleList())) {
    for (int i = 0; i < size.layers; ++i) blocks->push_back(Block(size));
  }

  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& segments) {
    const auto visible = (tokens > 0).unsqueeze(1).repeat({1, tokens.size(1), 1}).unsqueeze(1);
    auto x = embedding(tokens, segments);
    for (const auto& block : *blocks) x = block->as<BlockImpl>()->forward(x, visible);
    return x;
  }

  InputEmbedding embedding;
  nn::ModuleList blocks;
};
TORCH_MODULE(Encoder);

/// Log-probabilities of `classes`.
struct HeadImpl : nn::Module {
  HeadImpl(std::int64_t width, std::int64_t classes)
      : linear(register_module("linear", nn::Linear(width, classes))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::log_softmax(linear(x), -1); }

  nn::Linear linear;
};
TORCH_MODULE(Head);

struct Guesses {
  torch::Tensor next_sentence, tokens;
};

/// BERT with both heads of its pre-training: does the second sentence follow the first, and which
/// tokens are hidden.
struct BertImpl : nn::Module {
  explicit BertImpl(const Size& size)
      : bert(register_module("bert", Encoder(size))),
        next_sentence(register_module("next_sentence", Head(size.width, 2))),
        mask_lm(register_module("mask_lm", Head(size.width, size.vocabulary))) {}

  Guesses forward(const torch::Tensor& tokens, const torch::Tensor& segments) {
    const auto x = bert(tokens, segments);
    return {next_sentence(x.select(1, 0)), mask_lm(x)};
  }

  Encoder bert;
  Head next_sentence, mask_lm;
};
TORCH_MODULE(Bert);

class BertPytorchWorkload final : public NetworkWorkload {
 public:
  BertPytorchWorkload(const Setup& setup, const Size& size)
      : NetworkWorkload(setup), network_(size), schedule_(1.0, size.width, kWarmUp) {
    adopt({network_.ptr()});
    const auto batch = std::int64_t{setup.batch};
    tokens_ = place(draw().integers(size.vocabulary, {batch, size.length}));
    segments_ = place(draw().integers(kSegments, {batch, size.length}));
    token_labels_ = place(draw().integers(size.vocabulary, {batch, size.length}));
    is_next_ = place(draw().integers(2, {batch}));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions().weight_decay(0.01));
  }

  /// Infer computes the loss as well, as in the original.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    loss();
  }

 protected:
  NamedTensors forward() override {
    const auto guesses = network_->forward(tokens_, segments_);
    return {{"next sentence", guesses.next_sentence}, {"tokens", guesses.tokens}};
  }

  /// Class 0 counts in neither part, so a sentence that does not follow teaches nothing: the
  /// original has one criterion for both.
  torch::Tensor loss() override {
    const auto guesses = network_->forward(tokens_, segments_);
    const auto options = nn::functional::NLLLossFuncOptions().ignore_index(kPadding);
    const auto next_loss = nn::functional::nll_loss(guesses.next_sentence, is_next_, options);
    const auto token_loss =
        nn::functional::nll_loss(guesses.tokens.transpose(1, 2), token_labels_, options);
    return next_loss + token_loss;
  }

  /// The last step's gradients are dropped after the forward.
  void train_step() override {
    const auto value = training_loss();
    optimizer_->zero_grad();
    value.backward();
    schedule_.advance(*optimizer_);
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  static constexpr double kWarmUp = 10'000;

  Bert network_;
  WarmUpSchedule schedule_;
  torch::Tensor tokens_, segments_;
  torch::Tensor token_labels_, is_next_;
};

}  // namespace bert_pytorch

TORCHWATCH_DEFINE(BERT_pytorch) {
  return {
      .domain = "natural language",
      .task = "language modelling",
      .paper = {.train = 16, .infer = 16},
      .small = {.train = 4, .infer = 4},
      .cut = "32 tokens, vocabulary 1,000, width 192; batch 4",
      .build =
          build_as<bert_pytorch::BertPytorchWorkload, bert_pytorch::kPaper, bert_pytorch::kSmall>};
}

}  // namespace torchwatch::models
