#include <cmath>

#include "parts/timm.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace timm_vision_transformer {

namespace nn = torch::nn;

struct Size {
  int image = 224;
  int patch = 16;
  int width = 384;
  int hidden = 1536;
  int heads = 6;
  int depth = 12;
};
constexpr Size kSmallNetwork{};  // the original's "small", not the preset's
constexpr Size kSmallNetworkCut{.image = 64, .width = 192, .hidden = 768};
constexpr Size kGiantNetwork{.patch = 14, .width = 1408, .hidden = 6144, .heads = 16, .depth = 40};
constexpr Size kGiantNetworkCut{
    .image = 56, .patch = 14, .width = 176, .hidden = 768, .heads = 16, .depth = 40};

nn::LayerNorm layer_norm(int width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-6));
}

/// Each patch of the image becomes a token.
struct PatchEmbedImpl : nn::Module {
  explicit PatchEmbedImpl(const Size& size)
      : proj(register_module(
            "proj", nn::Conv2d(nn::Conv2dOptions(3, size.width, size.patch).stride(size.patch)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return proj(x).flatten(2).transpose(1, 2); }

  nn::Conv2d proj;
};
TORCH_MODULE(PatchEmbed);

/// Attention by plain matrix products, as timm had it at this commit.
struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Size& size)
      : heads(size.heads),
        qkv(register_module("qkv", nn::Linear(size.width, 3 * size.width))),
        proj(register_module("proj", nn::Linear(size.width, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto batch = x.size(0);
    const auto tokens = x.size(1);
    const auto width = x.size(2);
    const auto parts =
        qkv(x).reshape({batch, tokens, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const double scale = 1.0 / std::sqrt(static_cast<double>(width / heads));
    const auto scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale;
    const auto attended = torch::matmul(torch::softmax(scores, -1), parts[2]);
    return proj(attended.transpose(1, 2).reshape({batch, tokens, width}));
  }

  std::int64_t heads;
  nn::Linear qkv, proj;
};
TORCH_MODULE(Attention);

struct MlpImpl : nn::Module {
  explicit MlpImpl(const Size& size)
      : fc1(register_module("fc1", nn::Linear(size.width, size.hidden))),
        fc2(register_module("fc2", nn::Linear(size.hidden, size.width))) {}

  torch::Tensor forward(const torch::Tensor& x) { return fc2(torch::gelu(fc1(x))); }

  nn::Linear fc1, fc2;
};
TORCH_MODULE(Mlp);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Size& size)
      : norm1(register_module("norm1", layer_norm(size.width))),
        attn(register_module("attn", Attention(size))),
        norm2(register_module("norm2", layer_norm(size.width))),
        mlp(register_module("mlp", Mlp(size))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = x + attn(norm1(x));
    return y + mlp(norm2(y));
  }

  nn::LayerNorm norm1;
  Attention attn;
  nn::LayerNorm norm2;
  Mlp mlp;
};
TORCH_MODULE(Block);

/// A transformer over an image's patches and one token more, from which the class is read. All its
/// dropouts have probability zero and are left out.
struct VisionTransformerImpl : nn::Module {
  explicit VisionTransformerImpl(const Size& size)
      : cls_token(register_parameter("cls_token", torch::randn({1, 1, size.width}) * 1e-6)),
        pos_embed(register_parameter("pos_embed",
                                     torch::randn({1, tokens(size), size.width}) * kDeviation)),
        patch_embed(register_module("patch_embed", PatchEmbed(size))),
        blocks(register_module("blocks", nn::Sequential())),
        norm(register_module("norm", layer_norm(size.width))),
        head(register_module("head", nn::Linear(size.width, timm::kClasses))) {
    for (int i = 0; i < size.depth; ++i) blocks->push_back(Block(size));
    for (const auto& module : modules(/*include_self=*/false)) {
      auto* linear = module->as<nn::LinearImpl>();
      if (linear == nullptr) continue;
      nn::init::normal_(linear->weight, 0, kDeviation);
      nn::init::zeros_(linear->bias);
    }
  }

  torch::Tensor forward(const torch::Tensor& images) {
    auto x = patch_embed(images);
    x = torch::cat({cls_token.expand({x.size(0), -1, -1}), x}, 1) + pos_embed;
    x = norm(blocks->forward(x));
    return head(x.select(1, 0));
  }

  torch::Tensor cls_token, pos_embed;
  PatchEmbed patch_embed;
  nn::Sequential blocks;
  nn::LayerNorm norm;
  nn::Linear head;

 private:
  static constexpr double kDeviation = 0.02;

  static std::int64_t tokens(const Size& size) {
    const std::int64_t side = size.image / size.patch;
    return side * side + 1;
  }
};
TORCH_MODULE(VisionTransformer);

std::unique_ptr<Workload> classifier_of(const Setup& setup, const Size& paper, const Size& small) {
  const Size& size = setup.preset == Preset::paper ? paper : small;
  return std::make_unique<timm::Classifier>(setup, nn::AnyModule(VisionTransformer(size)),
                                            size.image,
                                            std::set<std::string>{"cls_token", "pos_embed"});
}

}  // namespace timm_vision_transformer

// The suite files both under image generation, although they are classifiers.
TORCHWATCH_DEFINE(timm_vision_transformer) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, half the width, batch 4",
          .build = [](const Setup& setup) {
            return timm_vision_transformer::classifier_of(
                setup, timm_vision_transformer::kSmallNetwork,
                timm_vision_transformer::kSmallNetworkCut);
          }};
}

TORCHWATCH_DEFINE(timm_vision_transformer_large) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 56x56, an eighth of the width, batch 2",
          .build = [](const Setup& setup) {
            return timm_vision_transformer::classifier_of(
                setup, timm_vision_transformer::kGiantNetwork,
                timm_vision_transformer::kGiantNetworkCut);
          }};
}

}  // namespace torchwatch::models
