#include <cmath>
#include <limits>

#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace gpt2 {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 50'257;
  std::int64_t train_length = 512;
  std::int64_t eval_length = 1024;
  std::int64_t positions = 1024;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kBasePaper{};
constexpr Size kBaseSmall{
    .vocabulary = 1000, .train_length = 32, .eval_length = 64, .positions = 64, .width = 192};
constexpr Size kLargePaper{.width = 1280, .heads = 20, .layers = 36};
constexpr Size kLargeSmall{.vocabulary = 1000,
                           .train_length = 32,
                           .eval_length = 64,
                           .positions = 64,
                           .width = 160,
                           .heads = 20,
                           .layers = 36};
constexpr double kDropout = 0.1;

/// A linear layer whose weight is stored input by output.
struct Conv1DImpl : nn::Module {
  Conv1DImpl(std::int64_t from, std::int64_t to, double deviation = 0.02)
      : weight(register_parameter("weight", torch::empty({from, to}).normal_(0, deviation))),
        bias(register_parameter("bias", torch::zeros({to}))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto flat = torch::addmm(bias, x.view({-1, x.size(-1)}), weight);
    return flat.view({x.size(0), x.size(1), -1});
  }

  torch::Tensor weight, bias;
};
TORCH_MODULE(Conv1D);

/// Layers that end a residual branch begin smaller, the more branches are added up.
double branch_deviation(const Size& size) {
  return 0.02 / std::sqrt(2.0 * size.layers);
}

struct Attended {
  torch::Tensor output, key, value;
};

/// Causal attention by plain matrix products, as the model had it at the paper's time.
struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : heads(size.heads),
        causal(register_buffer(
            "bias", torch::ones({1, 1, size.positions, size.positions}, torch::kBool).tril())),
        masked_bias(register_buffer("masked_bias", torch::tensor(-1e4F))),
        c_attn(register_module("c_attn", Conv1D(size.width, 3 * size.width))),
        c_proj(register_module("c_proj", Conv1D(size.width, size.width, branch_deviation(size)))),
        attn_dropout(register_module("attn_dropout", nn::Dropout(kDropout))),
        resid_dropout(register_module("resid_dropout", nn::Dropout(kDropout))) {}

  Attended forward(const torch::Tensor& x) {
    const auto parts = c_attn(x).split(x.size(2), 2);
    const auto query = split_heads(parts[0]);
    const auto key = split_heads(parts[1]);
    const auto value = split_heads(parts[2]);
    const auto context = attend(query, key, value).permute({0, 2, 1, 3}).contiguous();
    return {resid_dropout(c_proj(context.view(x.sizes()))), key, value};
  }

  std::int64_t heads;
  torch::Tensor causal;
  torch::Tensor masked_bias;  ///< unused, as in the original
  Conv1D c_attn, c_proj;
  nn::Dropout attn_dropout, resid_dropout;

 private:
  torch::Tensor split_heads(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, -1}).permute({0, 2, 1, 3});
  }

  torch::Tensor attend(const torch::Tensor& query, const torch::Tensor& key,
                       const torch::Tensor& value) {
    auto scores = torch::matmul(query, key.transpose(-1, -2));
    const double scale = std::sqrt(static_cast<double>(value.size(-1)));
    scores = scores / torch::full({}, scale, scores.options());
    scores = torch::where(visible(query.size(-2)), scores, lowest(scores.device()));
    return torch::matmul(attn_dropout(torch::softmax(scores, -1)), value);
  }

  torch::Tensor visible(std::int64_t length) const {
    return causal.narrow(2, 0, length).narrow(3, 0, length);
  }

  /// Made on the CPU and moved in each forward, as the original makes it.
  static torch::Tensor lowest(const torch::Device& device) {
    return torch::full({}, std::numeric_limits<float>::lowest(), torch::kFloat32).to(device);
  }
};
TORCH_MODULE(Attention);

struct MLPImpl : nn::Module {
  explicit MLPImpl(const Size& size)
      : c_fc(register_module("c_fc", Conv1D(size.width, 4 * size.width))),
        c_proj(
            register_module("c_proj", Conv1D(4 * size.width, size.width, branch_deviation(size)))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& x) { return dropout(c_proj(new_gelu(c_fc(x)))); }

  Conv1D c_fc, c_proj;
  nn::Dropout dropout;
};
TORCH_MODULE(MLP);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Size& size)
      : ln_1(register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({size.width})))),
        attn(register_module("attn", Attention(size))),
        ln_2(register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({size.width})))),
        mlp(register_module("mlp", MLP(size))) {}

  Attended forward(const torch::Tensor& x) {
    auto attended = attn(ln_1(x));
    const auto around = attended.output + x;
    attended.output = around + mlp(ln_2(around));
    return attended;
  }

  nn::LayerNorm ln_1;
  Attention attn;
  nn::LayerNorm ln_2;
  MLP mlp;
};
TORCH_MODULE(Block);

/// GPT-2 with its language-modelling head. Returns keys and values in training too.
struct GPT2Impl : nn::Module {
  explicit GPT2Impl(const Size& size)
      : wte(register_module("wte", nn::Embedding(size.vocabulary, size.width))),
        wpe(register_module("wpe", nn::Embedding(size.positions, size.width))),
        drop(register_module("drop", nn::Dropout(kDropout))),
        blocks(register_module("h", nn::ModuleList())),
        ln_f(register_module("ln_f", nn::LayerNorm(nn::LayerNormOptions({size.width})))),
        lm_head(register_module("lm_head", tied::Linear(wte->weight))) {
    for (int i = 0; i < size.layers; ++i) blocks->push_back(Block(size));
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    LanguageModelOutput output;
    auto x = drop(embed(input_ids));
    for (const auto& block : *blocks) {
      auto attended = block->as<BlockImpl>()->forward(x);
      x = attended.output;
      output.kept.push_back(std::move(attended.key));
      output.kept.push_back(std::move(attended.value));
    }
    output.logits = lm_head(ln_f(x));
    if (labels.defined()) output.loss = next_token_loss(output.logits, labels);
    return output;
  }

  nn::Embedding wte, wpe;
  nn::Dropout drop;
  nn::ModuleList blocks;
  nn::LayerNorm ln_f;
  tied::Linear lm_head;

 private:
  torch::Tensor embed(const torch::Tensor& input_ids) {
    const auto positions = torch::arange(input_ids.size(1), input_ids.device()).unsqueeze(0);
    return wte(input_ids) + wpe(positions);
  }

  /// A position's label is the token after it.
  static torch::Tensor next_token_loss(const torch::Tensor& logits, const torch::Tensor& labels) {
    const auto guesses = labels.size(1) - 1;
    return token_loss(logits.narrow(1, 0, guesses).contiguous(),
                      labels.narrow(1, 1, guesses).contiguous());
  }
};
TORCH_MODULE(GPT2);

}  // namespace gpt2

TORCHWATCH_DEFINE(hf_GPT2) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .runs_in_16_bits = true,
          .cut = "32 / 64 tokens, 64 positions, vocabulary 1,000, width 192; batch 2 / 1",
          .build = build_language_model<gpt2::GPT2, gpt2::kBasePaper, gpt2::kBaseSmall>};
}

TORCHWATCH_DEFINE(hf_GPT2_large) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .runs_in_16_bits = true,
          .cut = "32 / 64 tokens, 64 positions, vocabulary 1,000, width 160; batch 2 / 1",
          .build = build_language_model<gpt2::GPT2, gpt2::kLargePaper, gpt2::kLargeSmall>};
}

}  // namespace torchwatch::models
