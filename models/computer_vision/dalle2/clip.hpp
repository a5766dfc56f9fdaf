#pragma once

#include <cmath>
#include <limits>

#include "cubic_resize.hpp"
#include "layers.hpp"

namespace torchwatch::models::dalle2 {

struct ClipSize {
  std::int64_t embedding = 512;  ///< what images and texts share
  std::int64_t image = 224;
  std::int64_t patch = 32;
  std::int64_t image_width = 768;
  std::int64_t vocabulary = 49'408;
  std::int64_t context = 77;  ///< tokens of a text
  std::int64_t text_width = 512;
  int layers = 12;  ///< for either transformer
};

/// A linear layer by another name, which the original's attention has for its output.
struct NonDynamicallyQuantizableLinearImpl : nn::LinearImpl {
  using nn::LinearImpl::LinearImpl;
};
TORCH_MODULE(NonDynamicallyQuantizableLinear);

/// On sequences with the batch in the second dimension.
struct MultiheadAttentionImpl : nn::Module {
  explicit MultiheadAttentionImpl(std::int64_t width)
      : heads(width / 64),
        in_proj_weight(register_parameter("in_proj_weight", torch::empty({3 * width, width}))),
        in_proj_bias(register_parameter("in_proj_bias", torch::zeros({3 * width}))),
        out_proj(register_module("out_proj", NonDynamicallyQuantizableLinear(width, width))) {
    nn::init::xavier_uniform_(in_proj_weight);
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto length = x.size(0);
    const auto batch = x.size(1);
    const auto split = [&](const torch::Tensor& all) {
      return all.contiguous()
          .view({length, batch * heads, -1})
          .transpose(0, 1)
          .view({batch, heads, length, -1});
    };
    const auto qkv = torch::linear(x, in_proj_weight, in_proj_bias).chunk(3, -1);
    const auto seen = at::scaled_dot_product_attention(
        split(qkv[0]), split(qkv[1]), split(qkv[2]),
        mask.defined() ? std::optional<torch::Tensor>(mask) : std::nullopt);
    return out_proj(seen.permute({2, 0, 1, 3}).contiguous().view({length, batch, -1}));
  }

  std::int64_t heads;
  torch::Tensor in_proj_weight, in_proj_bias;
  NonDynamicallyQuantizableLinear out_proj;
};
TORCH_MODULE(MultiheadAttention);

struct QuickGELUImpl : nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return x * torch::sigmoid(1.702 * x); }
};
TORCH_MODULE(QuickGELU);

struct ResidualAttentionBlockImpl : nn::Module {
  explicit ResidualAttentionBlockImpl(std::int64_t width)
      : attn(register_module("attn", MultiheadAttention(width))),
        ln_1(register_module("ln_1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        mlp(register_module("mlp", nn::Sequential())),
        ln_2(register_module("ln_2", nn::LayerNorm(nn::LayerNormOptions({width})))) {
    mlp->push_back("c_fc", nn::Linear(width, 4 * width));
    mlp->push_back("gelu", QuickGELU());
    mlp->push_back("c_proj", nn::Linear(4 * width, width));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = x + attn(ln_1(x), mask);
    return attended + mlp->forward(ln_2(attended));
  }

  MultiheadAttention attn;
  nn::LayerNorm ln_1;
  nn::Sequential mlp;
  nn::LayerNorm ln_2;
};
TORCH_MODULE(ResidualAttentionBlock);

/// On (batch, tokens, width).
struct TransformerImpl : nn::Module {
  TransformerImpl(std::int64_t width, int layers)
      : resblocks(register_module("resblocks", nn::ModuleList())) {
    for (int i = 0; i < layers; ++i) resblocks->push_back(ResidualAttentionBlock(width));
  }

  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& mask = {}) {
    auto x = tokens.transpose(0, 1);
    for (const auto& block : *resblocks) {
      x = block->as<ResidualAttentionBlockImpl>()->forward(x, mask);
    }
    return x.transpose(0, 1);
  }

  nn::ModuleList resblocks;
};
TORCH_MODULE(Transformer);

struct VisionTransformerImpl : nn::Module {
  explicit VisionTransformerImpl(const ClipSize& size) {
    const auto width = size.image_width;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    const auto side = size.image / size.patch;
    class_embedding = register_parameter("class_embedding", scale * torch::randn({width}));
    positional_embedding =
        register_parameter("positional_embedding", scale * torch::randn({side * side + 1, width}));
    proj = register_parameter("proj", scale * torch::randn({width, size.embedding}));
    conv1 = register_module(
        "conv1",
        nn::Conv2d(nn::Conv2dOptions(3, width, size.patch).stride(size.patch).bias(false)));
    ln_pre = register_module("ln_pre", nn::LayerNorm(nn::LayerNormOptions({width})));
    transformer = register_module("transformer", Transformer(width, size.layers));
    ln_post = register_module("ln_post", nn::LayerNorm(nn::LayerNormOptions({width})));
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const auto patches = conv1(images).flatten(2).transpose(1, 2);
    const auto first =
        class_embedding + torch::zeros({patches.size(0), 1, patches.size(2)}, patches.options());
    const auto tokens = torch::cat({first, patches}, 1) + positional_embedding;
    const auto x = transformer(ln_pre(tokens));
    return torch::matmul(ln_post(x.select(1, 0)), proj);
  }

  torch::Tensor class_embedding, positional_embedding, proj;
  nn::Conv2d conv1{nullptr};
  nn::LayerNorm ln_pre{nullptr};
  Transformer transformer{nullptr};
  nn::LayerNorm ln_post{nullptr};
};
TORCH_MODULE(VisionTransformer);

/// A text's place in the common space, and its tokens before they are summed up.
struct TextEncoding {
  torch::Tensor embedding;  ///< batch, width
  torch::Tensor tokens;     ///< batch, context, width; zero after the text's end
};

/// Images and texts in one space (arXiv 2103.00020); frozen here.
struct CLIPImpl : nn::Module {
  explicit CLIPImpl(const ClipSize& clip_size) : size(clip_size) {
    const auto width = size.text_width;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    positional_embedding =
        register_parameter("positional_embedding", 0.01 * torch::randn({size.context, width}));
    text_projection =
        register_parameter("text_projection", scale * torch::randn({width, size.embedding}));
    register_parameter("logit_scale", torch::full({}, std::log(1 / 0.07)));
    visual = register_module("visual", VisionTransformer(size));
    transformer = register_module("transformer", Transformer(width, size.layers));
    token_embedding = register_module("token_embedding", nn::Embedding(size.vocabulary, width));
    nn::init::normal_(token_embedding->weight, 0, 0.02);
    ln_final = register_module("ln_final", nn::LayerNorm(nn::LayerNormOptions({width})));
    // The mask is not registered, as in the original; float32's lowest would do as well as
    // infinity.
    later_tokens =
        torch::full({size.context, size.context}, -std::numeric_limits<float>::infinity()).triu_(1);
    for (auto& parameter : parameters()) parameter.requires_grad_(false);
  }

  /// Encodes the first tokens of `texts`, up to the length of the context.
  TextEncoding embed_text(const torch::Tensor& texts) {
    const torch::NoGradGuard no_gradients;
    const auto ids = texts.narrow(1, 0, size.context);
    later_tokens = later_tokens.to(ids.device());
    const auto before_end = (ids == size.vocabulary - 1).cumsum(-1) == 0;
    const auto is_text = torch::constant_pad_nd(before_end, {1, -1}, 1).logical_and(ids != 0);
    const auto tokens =
        ln_final(transformer(token_embedding(ids) + positional_embedding, later_tokens));
    const auto end = tokens.index({torch::arange(ids.size(0), ids.options()), ids.argmax(-1)});
    return {unit_length(torch::matmul(end, text_projection)),
            tokens.masked_fill(is_text.logical_not().unsqueeze(-1), 0)};
  }

  torch::Tensor embed_images(const torch::Tensor& images) {
    const torch::NoGradGuard no_gradients;
    const auto resized = cubic_resize(images, size.image, size.image);
    const auto channel_values = [&images](const std::vector<double>& values) {
      return torch::tensor(values, torch::kFloat32).view({3, 1, 1}).to(images.device());
    };
    const auto mean = channel_values({0.48145466, 0.4578275, 0.40821073});
    const auto deviation = channel_values({0.26862954, 0.26130258, 0.27577711});
    return unit_length(visual((resized - mean) / deviation));
  }

  ClipSize size;
  torch::Tensor positional_embedding, text_projection;
  VisionTransformer visual{nullptr};
  Transformer transformer{nullptr};
  nn::Embedding token_embedding{nullptr};
  nn::LayerNorm ln_final{nullptr};
  torch::Tensor later_tokens;
};
TORCH_MODULE(CLIP);

}  // namespace torchwatch::models::dalle2
