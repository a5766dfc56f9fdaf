#pragma once

#include "clip.hpp"
#include "layers.hpp"

namespace torchwatch::models::dalle2 {

/// Convolutions of several sizes side by side.
struct CrossEmbedLayerImpl : nn::Module {
  CrossEmbedLayerImpl(std::int64_t from, std::int64_t to)
      : convs(register_module("convs", nn::ModuleList())) {
    const auto push = [&](std::int64_t channels, std::int64_t kernel) {
      convs->push_back(
          nn::Conv2d(nn::Conv2dOptions(from, channels, kernel).padding((kernel - 1) / 2)));
    };
    push(to / 2, 3);
    push(to / 4, 7);
    push(to - to / 2 - to / 4, 15);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    std::vector<torch::Tensor> maps;
    for (const auto& conv : *convs) maps.push_back(conv->as<nn::Conv2dImpl>()->forward(x));
    return torch::cat(maps, 1);
  }

  nn::ModuleList convs;
};
TORCH_MODULE(CrossEmbedLayer);

/// Each place of an image looks at the condition's tokens and at a learned one.
struct CrossAttentionImpl : nn::Module {
  CrossAttentionImpl(std::int64_t width, std::int64_t condition_width)
      : null_kv(register_parameter("null_kv", torch::randn({2, kHeadWidth}))),
        norm(register_module("norm", LayerNorm(width))),
        to_q(register_module("to_q", AttentionImpl::linear(width, kHeads * kHeadWidth))),
        to_kv(register_module("to_kv",
                              AttentionImpl::linear(condition_width, 2 * kHeads * kHeadWidth))),
        to_out(register_module(
            "to_out",
            nn::Sequential(AttentionImpl::linear(kHeads * kHeadWidth, width), LayerNorm(width)))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& condition) {
    const auto batch = x.size(0);
    const auto split = [](const torch::Tensor& all) {
      return all.unflatten(-1, {kHeads, -1}).transpose(1, 2);
    };
    const auto with_null = [&](std::int64_t which, const torch::Tensor& others) {
      return torch::cat({null_kv[which].expand({batch, kHeads, 1, -1}), split(others)}, -2);
    };
    const auto q = split(to_q(norm(x)));
    const auto kv = to_kv(condition).chunk(2, -1);
    const double scale = std::sqrt(1 / std::sqrt(static_cast<double>(kHeadWidth)));
    const auto k = with_null(0, kv[0]);
    const auto v = with_null(1, kv[1]);
    const auto similarity = torch::einsum("bhid,bhjd->bhij", {q * scale, k * scale});
    const auto seen = torch::einsum("bhij,bhjd->bhid", {torch::softmax(similarity, -1), v});
    return to_out->forward(seen.transpose(1, 2).flatten(2));
  }

  torch::Tensor null_kv;
  LayerNorm norm;
  nn::Linear to_q, to_kv;
  nn::Sequential to_out;

 private:
  static constexpr std::int64_t kHeads = 8;
  static constexpr std::int64_t kHeadWidth = 64;
};
TORCH_MODULE(CrossAttention);

/// An image (batch, channels, rows, columns) as a sequence of its places, and back.
inline torch::Tensor as_sequence(const torch::Tensor& image) {
  return image.permute({0, 2, 3, 1}).flatten(1, 2);
}
inline torch::Tensor as_image(const torch::Tensor& sequence, const torch::Tensor& like) {
  return sequence.unflatten(1, {like.size(2), like.size(3)}).permute({0, 3, 1, 2});
}

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t from, std::int64_t to)
      : project(register_module("project", nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)))),
        norm(register_module("norm", nn::GroupNorm(8, to))) {}

  /// `scale_shift`: two halves side by side, or undefined.
  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& scale_shift = {}) {
    auto x = norm(project(input));
    if (scale_shift.defined()) {
      const auto halves = scale_shift.chunk(2, 1);
      x = x * (halves[0] + 1) + halves[1];
    }
    return torch::silu(x);
  }

  nn::Conv2d project;
  nn::GroupNorm norm;
};
TORCH_MODULE(Block);

/// The encoded step and conditions that steer a U-Net's layers.
struct Condition {
  torch::Tensor time;    ///< batch, width
  torch::Tensor tokens;  ///< batch, tokens, width
};

/// Two blocks, the first shifted by the time, between them a look at the condition's tokens where
/// `condition_width` is not 0.
struct ResnetBlockImpl : nn::Module {
  ResnetBlockImpl(std::int64_t from, std::int64_t to, std::int64_t time_width,
                  std::int64_t condition_width = 0)
      : time_mlp(register_module("time_mlp",
                                 nn::Sequential(nn::SiLU(), nn::Linear(time_width, 2 * to)))) {
    if (condition_width != 0) {
      cross_attn = register_module("cross_attn", CrossAttention(to, condition_width));
    }
    block1 = register_module("block1", Block(from, to));
    block2 = register_module("block2", Block(to, to));
    if (from == to) return;
    res_conv = register_module("res_conv", nn::Conv2d(nn::Conv2dOptions(from, to, 1)));
  }

  torch::Tensor forward(const torch::Tensor& x, const Condition& condition) {
    const auto scale_shift = time_mlp->forward(condition.time).unsqueeze(-1).unsqueeze(-1);
    auto y = block1(x, scale_shift);
    if (cross_attn) y = as_image(cross_attn(as_sequence(y), condition.tokens), y) + y;
    y = block2(y);
    return y + (res_conv ? res_conv(x) : x);
  }

  nn::Sequential time_mlp;
  CrossAttention cross_attn{nullptr};
  Block block1{nullptr}, block2{nullptr};
  nn::Conv2d res_conv{nullptr};
};
TORCH_MODULE(ResnetBlock);

/// Halves an image, its pixels becoming channels.
inline nn::Sequential halving(std::int64_t from, std::int64_t to) {
  return nn::Sequential(nn::PixelUnshuffle(nn::PixelUnshuffleOptions(2)),
                        nn::Conv2d(nn::Conv2dOptions(4 * from, to, 1)));
}

/// Doubles an image, channels becoming pixels; at the start four equal ones.
inline nn::Sequential doubling(std::int64_t from, std::int64_t to) {
  nn::Conv2d conv(nn::Conv2dOptions(from, 4 * to, 1));
  const torch::NoGradGuard no_gradients;
  const auto weight = torch::empty({to, from, 1, 1});
  nn::init::kaiming_uniform_(weight);
  conv->weight.copy_(weight.repeat_interleave(4, 0));
  conv->bias.zero_();
  return nn::Sequential(conv, nn::SiLU(), nn::PixelShuffle(nn::PixelShuffleOptions(2)));
}

struct UnetSize {
  std::int64_t width = 128;
  std::vector<std::int64_t> multiples;  ///< for the width, one for each stage
  std::int64_t condition_width = 128;
  std::int64_t embedding = 512;     ///< CLIP's for images
  std::int64_t text_width = 512;    ///< for CLIP's text tokens
  std::int64_t longest_text = 256;  ///< in tokens
  bool has_clip_condition = false;  ///< on text and image, as the first of a cascade
  bool has_small_image = false;     ///< on the result of the one before, as the others
  std::int64_t channels_out = 3;
};

/// A U-Net's input: a noisy image, its step, and the conditions with the rates at which they drop.
struct UnetInput {
  torch::Tensor noisy;
  torch::Tensor times;
  torch::Tensor image_embedding;
  torch::Tensor text_tokens;
  torch::Tensor small_image;  ///< at the size of `noisy`; undefined without one
  double image_dropped = 0;   ///< how often the image's embedding is replaced by a learned one
  double text_dropped = 0;
};

struct UnetImpl : nn::Module {
  explicit UnetImpl(UnetSize unet_size) : size(std::move(unet_size)) {
    const auto time_width = 4 * size.width;
    null_image_embed = register_parameter("null_image_embed",
                                          torch::randn({1, kImageTokens, size.condition_width}));
    null_image_hiddens = register_parameter("null_image_hiddens", torch::randn({1, time_width}));
    null_text_embed = register_parameter(
        "null_text_embed", torch::randn({1, size.longest_text, size.condition_width}));
    init_conv =
        register_module("init_conv", CrossEmbedLayer(size.has_small_image ? 6 : 3, size.width));
    register_conditions(time_width);
    register_stages(time_width);
  }

  torch::Tensor forward(const UnetInput& input) {
    auto x = input.noisy;
    if (input.small_image.defined()) x = torch::cat({x, input.small_image}, 1);
    x = init_conv(x);
    const auto first = x.clone();
    const auto [outer, inner] = conditions_of(input);

    std::vector<torch::Tensor> skipped;
    for (auto& stage : down_stages) x = descend(stage, x, outer, skipped);
    x = mid_block1(x, inner);
    x = as_image(attended(as_sequence(x)), x);
    x = mid_block2(x, inner);
    for (auto& stage : up_stages) x = ascend(stage, x, outer, skipped);

    x = final_resnet_block(torch::cat({x, first}, 1), outer);
    if (input.small_image.defined()) x = torch::cat({x, input.small_image}, 1);
    return to_out(x);
  }

  UnetSize size;

 private:
  static constexpr std::int64_t kImageTokens = 4;
  static constexpr std::int64_t kTimeTokens = 2;
  static constexpr int kBlocks = 3;  ///< per stage

  struct Stage {
    std::vector<ResnetBlock> blocks;
    nn::Sequential resize{nullptr};  ///< none at the end of the way up
  };

  /// Conditions for the outer stages, and with the text for the middle ones.
  struct Conditions {
    Condition outer, inner;
  };

  void register_conditions(std::int64_t time_width) {
    const auto width = size.condition_width;
    to_time_hiddens = register_module(
        "to_time_hiddens", nn::Sequential(SinusoidalPosEmb(size.width),
                                          nn::Linear(size.width, time_width), nn::GELU()));
    to_time_tokens = register_module("to_time_tokens",
                                     nn::Sequential(nn::Linear(time_width, width * kTimeTokens)));
    to_time_cond =
        register_module("to_time_cond", nn::Sequential(nn::Linear(time_width, time_width)));
    if (size.has_clip_condition) {
      image_to_tokens = register_module(
          "image_to_tokens", nn::Sequential(nn::Linear(size.embedding, width * kImageTokens)));
      to_image_hiddens = register_module(
          "to_image_hiddens", nn::Sequential(nn::Linear(size.embedding, time_width), nn::GELU()));
    }
    norm_cond = register_module("norm_cond", nn::LayerNorm(nn::LayerNormOptions({width})));
    norm_mid_cond = register_module("norm_mid_cond", nn::LayerNorm(nn::LayerNormOptions({width})));
    if (size.has_clip_condition) {
      text_to_cond = register_module("text_to_cond", nn::Linear(size.text_width, width));
    }
  }

  void register_stages(std::int64_t time_width) {
    const auto downs = register_module("downs", nn::ModuleList());
    const auto ups = register_module("ups", nn::ModuleList());
    std::vector<std::int64_t> widths{size.width};
    for (const auto multiple : size.multiples) widths.push_back(size.width * multiple);
    const auto last = size.multiples.size() - 1;
    const auto condition_at = [&](std::size_t i) { return i == 0 ? 0 : size.condition_width; };

    for (std::size_t i = 0; i <= last; ++i) {
      Stage stage;
      for (int j = 0; j < kBlocks; ++j) {
        // The first block of a stage on the way down does not look at the condition.
        stage.blocks.push_back(
            ResnetBlock(widths[i], widths[i], time_width, j == 0 ? 0 : condition_at(i)));
      }
      stage.resize =
          i < last ? halving(widths[i], widths[i + 1])
                   : nn::Sequential(nn::Conv2d(nn::Conv2dOptions(widths[i], widths[i + 1], 1)));
      append(downs, down_stages, stage);
    }

    const auto middle = widths.back();
    const auto middle_block = [&] {
      return ResnetBlock(middle, middle, time_width, size.condition_width);
    };
    mid_block1 = register_module("mid_block1", middle_block());
    mid_attn = register_module("mid_attn",
                               Attention(middle, AttentionOptions{.heads = 16, .head_width = 32}));
    mid_block2 = register_module("mid_block2", middle_block());

    for (std::size_t i = last + 1; i-- > 0;) {
      Stage stage;
      for (int j = 0; j < kBlocks; ++j) {
        stage.blocks.push_back(
            ResnetBlock(widths[i + 1] + widths[i], widths[i + 1], time_width, condition_at(i)));
      }
      if (i > 0) stage.resize = doubling(widths[i + 1], widths[i]);
      append(ups, up_stages, stage);
    }

    final_resnet_block =
        register_module("final_resnet_block", ResnetBlock(2 * size.width, size.width, time_width));
    to_out = register_module(
        "to_out", nn::Conv2d(nn::Conv2dOptions(size.width + (size.has_small_image ? 3 : 0),
                                               size.channels_out, 1)));
    nn::init::zeros_(to_out->weight);
    nn::init::zeros_(to_out->bias);
  }

  /// Registers the blocks in the original's order: one, the others, the resizing.
  static void append(nn::ModuleList registered, std::vector<Stage>& stages, const Stage& stage) {
    nn::ModuleList modules;
    for (const auto& block : stage.blocks) modules->push_back(block);
    if (stage.resize) modules->push_back(stage.resize);
    registered->push_back(modules);
    stages.push_back(stage);
  }

  Conditions conditions_of(const UnetInput& input) {
    const auto batch = input.noisy.size(0);
    const auto device = input.noisy.device();
    const auto hidden = to_time_hiddens->forward(input.times.to(torch::kFloat32));
    auto tokens = to_time_tokens->forward(hidden).unflatten(-1, {kTimeTokens, -1});
    auto time = to_time_cond->forward(hidden);
    const auto keeps_image = chances(batch, 1 - input.image_dropped, device);
    const auto keeps_text = chances(batch, 1 - input.text_dropped, device);
    auto all_tokens = tokens;
    if (size.has_clip_condition) {
      const auto& image = input.image_embedding;
      time = time + torch::where(keeps_image.unsqueeze(1), to_image_hiddens->forward(image),
                                 null_image_hiddens);
      const auto image_tokens = image_to_tokens->forward(image).unflatten(-1, {kImageTokens, -1});
      tokens = torch::cat(
          {tokens, torch::where(keeps_image.view({-1, 1, 1}), image_tokens, null_image_embed)}, -2);
      all_tokens = torch::cat({tokens, text_tokens(input.text_tokens, keeps_text)}, -2);
    }
    return {{time, norm_cond(tokens)}, {time, norm_mid_cond(all_tokens)}};
  }

  torch::Tensor text_tokens(const torch::Tensor& text, const torch::Tensor& keeps) {
    const auto is_text = padded_to(torch::any(text != 0, -1), size.longest_text).unsqueeze(-1);
    return torch::where(is_text.logical_and(keeps.view({-1, 1, 1})),
                        padded_to(text_to_cond(text), size.longest_text), null_text_embed);
  }

  torch::Tensor attended(const torch::Tensor& sequence) { return mid_attn(sequence) + sequence; }

  static torch::Tensor descend(Stage& stage, torch::Tensor x, const Condition& condition,
                               std::vector<torch::Tensor>& skipped) {
    x = stage.blocks[0](x, condition);
    for (std::size_t i = 1; i < stage.blocks.size(); ++i) {
      x = stage.blocks[i](x, condition);
      skipped.push_back(x.contiguous());
    }
    skipped.push_back(x.contiguous());
    return stage.resize->forward(x);
  }

  static torch::Tensor ascend(Stage& stage, torch::Tensor x, const Condition& condition,
                              std::vector<torch::Tensor>& skipped) {
    constexpr double kShare = 1;  // of what is skipped; the original multiplies as well
    for (auto& block : stage.blocks) {
      x = block(torch::cat({x, skipped.back() * kShare}, 1), condition);
      skipped.pop_back();
    }
    return stage.resize ? stage.resize->forward(x) : x;
  }

  torch::Tensor null_image_embed, null_image_hiddens, null_text_embed;
  CrossEmbedLayer init_conv{nullptr};
  nn::Sequential to_time_hiddens{nullptr}, to_time_tokens{nullptr}, to_time_cond{nullptr};
  nn::Sequential image_to_tokens{nullptr}, to_image_hiddens{nullptr};
  nn::LayerNorm norm_cond{nullptr}, norm_mid_cond{nullptr};
  nn::Linear text_to_cond{nullptr};
  std::vector<Stage> down_stages, up_stages;
  ResnetBlock mid_block1{nullptr}, mid_block2{nullptr};
  Attention mid_attn{nullptr};
  ResnetBlock final_resnet_block{nullptr};
  nn::Conv2d to_out{nullptr};
};
TORCH_MODULE(Unet);

}  // namespace torchwatch::models::dalle2
