#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "../../natural_language/parts/layers.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::speech_transformer {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 4233;
  std::int64_t frames = 200;
  std::int64_t tokens = 20;
  std::int64_t width = 512;
  std::int64_t hidden = 2048;
  std::int64_t longest_hypothesis = 100;
};
constexpr std::int64_t kFeatures = 320;
constexpr std::int64_t kHeads = 8;
constexpr std::int64_t kPositions = 5000;
constexpr int kLayers = 6;
constexpr double kDropout = 0.1;

constexpr std::int64_t kBegin = 1;
constexpr std::int64_t kEnd = 2;
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

/// 1 at the frames of each utterance, 0 beyond its end. Reads each length by itself, as the
/// original does.
inline torch::Tensor present(const torch::Tensor& sequence, const torch::Tensor& lengths) {
  auto mask =
      torch::ones({sequence.size(0), sequence.size(1)}, sequence.options().requires_grad(false));
  for (std::int64_t i = 0; i < sequence.size(0); ++i) {
    mask[i].slice(0, lengths[i].item<std::int64_t>()).fill_(0);
  }
  return mask.unsqueeze(-1);
}

/// True beyond the end of the utterance, for each of `queries` positions.
inline torch::Tensor absent(const torch::Tensor& sequence, const torch::Tensor& lengths,
                            std::int64_t queries) {
  const auto mask = present(sequence, lengths).squeeze(-1).lt(1);
  return mask.unsqueeze(1).expand({-1, queries, -1});
}

/// 1 where a position would look at a later one.
inline torch::Tensor later(const torch::Tensor& tokens) {
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

/// Decoder inputs and targets of equal length: tokens after a start token, and before an end token.
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
    tgt_word_prj = register_module("tgt_word_prj", tied::Linear(tgt_word_emb->weight));
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
  tied::Linear tgt_word_prj{nullptr};

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

}  // namespace torchwatch::models::speech_transformer
