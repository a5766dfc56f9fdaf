#pragma once

#include "clip.hpp"
#include "layers.hpp"

namespace torchwatch::models::dalle2 {

/// Halves the features; one half gates the other.
struct SwiGLUImpl : nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    const auto halves = x.chunk(2, -1);
    return halves[0] * torch::silu(halves[1]);
  }
};
TORCH_MODULE(SwiGLU);

/// A learned bias by the distance of a key behind a query, in buckets that grow with the distance.
struct RelPosBiasImpl : nn::Module {
  explicit RelPosBiasImpl(std::int64_t heads)
      : relative_attention_bias(
            register_module("relative_attention_bias", nn::Embedding(kBuckets, heads))) {}

  torch::Tensor forward(std::int64_t queries, std::int64_t keys, torch::Device device) {
    const auto places = [device](std::int64_t count) {
      return torch::arange(count, torch::TensorOptions(torch::kInt64).device(device));
    };
    const auto ahead = places(keys).unsqueeze(0) - places(queries).unsqueeze(1);
    return relative_attention_bias(bucket_of(ahead)).permute({2, 0, 1});
  }

  nn::Embedding relative_attention_bias;

 private:
  static constexpr std::int64_t kBuckets = 32;

  static torch::Tensor bucket_of(const torch::Tensor& ahead) {
    constexpr double kExact = 16;  // distances below have a bucket each
    constexpr double kFarthest = 128;
    const auto behind = torch::max(-ahead, torch::zeros_like(ahead));
    const auto growth =
        torch::log(behind.to(torch::kFloat32) / kExact) / std::log(kFarthest / kExact);
    const auto coarse = 16 + (growth * (kBuckets - 16)).to(torch::kInt64);
    return torch::where(behind < 16, behind,
                        torch::min(coarse, torch::full_like(coarse, kBuckets - 1)));
  }
};
TORCH_MODULE(RelPosBias);

struct CausalTransformerImpl : nn::Module {
  CausalTransformerImpl(std::int64_t width, int depth)
      : rel_pos_bias(register_module("rel_pos_bias", RelPosBias(kHeads))),
        layers(register_module("layers", nn::ModuleList())) {
    const AttentionOptions options{.heads = kHeads, .is_causal = true, .by_cosine = true};
    const RotaryEmbedding rotary(32);
    for (int i = 0; i < depth; ++i) {
      attentions.push_back(Attention(width, options, rotary));
      feed_forwards.push_back(feed_forward(width));
      nn::ModuleList layer;
      layer->push_back(attentions.back());
      layer->push_back(feed_forwards.back());
      layers->push_back(layer);
    }
    norm = register_module("norm", LayerNorm(width, /*stable=*/true));
    project_out = register_module("project_out", AttentionImpl::linear(width, width));
  }

  torch::Tensor forward(torch::Tensor x) {
    const auto bias = rel_pos_bias(x.size(1), x.size(1) + 1, x.device());
    for (std::size_t i = 0; i < attentions.size(); ++i) {
      x = attentions[i](x, bias) + x;
      x = feed_forwards[i]->forward(x) + x;
    }
    return project_out(norm(x));
  }

  RelPosBias rel_pos_bias;
  nn::ModuleList layers;
  std::vector<Attention> attentions;
  std::vector<nn::Sequential> feed_forwards;
  LayerNorm norm{nullptr};
  nn::Linear project_out{nullptr};

 private:
  static constexpr std::int64_t kHeads = 8;

  static nn::Sequential feed_forward(std::int64_t width) {
    return nn::Sequential(LayerNorm(width), AttentionImpl::linear(width, 8 * width), SwiGLU(),
                          nn::Identity(), nn::Dropout(0.0),
                          AttentionImpl::linear(4 * width, width));
  }
};
TORCH_MODULE(CausalTransformer);

struct MLPImpl : nn::Module {
  explicit MLPImpl(std::int64_t width) : net(register_module("net", nn::Sequential())) {
    for (const auto from : {width, 2 * width}) {
      net->push_back(nn::Linear(from, 2 * width));
      net->push_back(nn::SiLU());
    }
    net->push_back(nn::Linear(2 * width, width));
  }

  torch::Tensor forward(const torch::Tensor& x) { return net->forward(x); }

  nn::Sequential net;
};
TORCH_MODULE(MLP);

/// Predicts an image's embedding from a text and a noised image embedding.
struct DiffusionPriorNetworkImpl : nn::Module {
  DiffusionPriorNetworkImpl(std::int64_t width, std::int64_t longest_text, int depth)
      : longest(longest_text) {
    to_time_embeds =
        register_module("to_time_embeds", nn::Sequential(SinusoidalPosEmb(width), MLP(width)));
    learned_query = register_parameter("learned_query", torch::randn({width}));
    causal_transformer = register_module("causal_transformer", CausalTransformer(width, depth));
    null_text_encodings =
        register_parameter("null_text_encodings", torch::randn({1, longest, width}));
    null_text_embeds = register_parameter("null_text_embeds", torch::randn({1, 1, width}));
    null_image_embed = register_parameter("null_image_embed", torch::randn({1, width}));
  }

  /// Replaces text and image by learned values with the probability `dropped` each.
  torch::Tensor forward(const torch::Tensor& image, const torch::Tensor& times,
                        const TextEncoding& text, double dropped) {
    const auto batch = image.size(0);
    const auto keeps_text = chances(batch, 1 - dropped, image.device()).view({-1, 1, 1});
    const auto keeps_image = chances(batch, 1 - dropped, image.device()).view({-1, 1, 1});
    const auto is_text = padded_to(torch::any(text.tokens != 0, -1), longest).unsqueeze(-1);
    const auto tokens = torch::where(is_text.logical_and(keeps_text),
                                     padded_to(text.tokens, longest), null_text_encodings);
    const auto sequence =
        torch::cat({tokens, torch::where(keeps_text, text.embedding.unsqueeze(1), null_text_embeds),
                    to_time_embeds->forward(times.to(torch::kFloat32)).unsqueeze(1),
                    torch::where(keeps_image, image.unsqueeze(1), null_image_embed),
                    learned_query.expand({batch, 1, -1})},
                   -2);
    return causal_transformer(sequence).select(1, -1);
  }

  std::int64_t longest;
  nn::Sequential to_time_embeds{nullptr};
  CausalTransformer causal_transformer{nullptr};
  torch::Tensor learned_query, null_text_encodings, null_text_embeds, null_image_embed;
};
TORCH_MODULE(DiffusionPriorNetwork);

/// Finds an image embedding in CLIP's space for a text, by diffusion.
struct DiffusionPriorImpl : nn::Module {
  DiffusionPriorImpl(const CLIP& shared_clip, std::int64_t longest_text, int depth)
      : scale(std::sqrt(static_cast<double>(shared_clip->size.embedding))) {
    register_buffer("_dummy", torch::ones({1}, torch::kBool));
    noise_scheduler = register_module(
        "noise_scheduler", NoiseScheduler(NoiseSchedulerImpl::Schedule::cosine, /*timesteps=*/1));
    clip = register_module("clip", shared_clip);
    net = register_module("net", DiffusionPriorNetwork(clip->size.embedding, longest_text, depth));
  }

  /// Draws two samples for each text and returns the one that CLIP rates higher.
  torch::Tensor sample(const torch::Tensor& texts) {
    constexpr std::int64_t kSamples = 2;
    const auto text = clip->embed_text(texts.repeat_interleave(kSamples, 0));
    const auto times = torch::zeros({text.embedding.size(0)}, texts.options());
    const auto noisy = torch::randn_like(text.embedding);
    const auto start = net(noisy, times, text, /*dropped=*/0);
    const auto posterior = noise_scheduler->posterior(start, noisy, times);
    const auto sampled = NoiseSchedulerImpl::sampled(posterior, times) / scale;

    const auto images = sampled.unflatten(0, {-1, kSamples});
    const auto wanted = text.embedding.unflatten(0, {-1, kSamples});
    const auto likeness = torch::einsum("brd,brd->br", {unit_length(wanted), unit_length(images)});
    const auto best = std::get<1>(likeness.topk(1)).unsqueeze(-1);
    return images.gather(1, best.expand({-1, 1, images.size(2)})).squeeze(1);
  }

  torch::Tensor loss(const torch::Tensor& texts, const torch::Tensor& images) {
    constexpr double kDropped = 0.2;
    auto image = clip->embed_images(images);
    const auto text = clip->embed_text(texts);
    const auto times = noise_scheduler->random_times(image.size(0));
    image *= scale;
    const auto noisy = noise_scheduler->noised(image, times, torch::randn_like(image));
    return torch::mse_loss(net(noisy, times, text, kDropped), image);
  }

  double scale;  ///< from CLIP's unit length to unit variance
  NoiseScheduler noise_scheduler{nullptr};
  CLIP clip{nullptr};
  DiffusionPriorNetwork net{nullptr};
};
TORCH_MODULE(DiffusionPrior);

}  // namespace torchwatch::models::dalle2
