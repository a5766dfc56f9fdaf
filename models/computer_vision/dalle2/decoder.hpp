#pragma once

#include <numbers>

#include "unet.hpp"

namespace torchwatch::models::dalle2 {

/// Images at another size, to the nearest pixel, and in [0, 1] where asked; as they are where they
/// have it.
inline torch::Tensor nearest_resize(const torch::Tensor& images, std::int64_t side, bool clamps) {
  namespace F = nn::functional;
  if (images.size(-1) == side) return images;
  const auto resized = F::interpolate(images, F::InterpolateFuncOptions()
                                                  .size(std::vector<std::int64_t>{side, side})
                                                  .mode(torch::kNearest));
  return clamps ? resized.clamp(0, 1) : resized;
}

/// Blurs by a Gaussian of 3x3 pixels, with mirrored borders.
inline torch::Tensor blurred(const torch::Tensor& images) {
  constexpr double kDeviation = 0.6;
  const auto places = torch::arange(-1, 2, images.options());
  auto line = torch::exp(-places.pow(2) / (2 * kDeviation * kDeviation));
  line = line / line.sum();
  const auto channels = images.size(1);
  const auto filter = [&](const torch::Tensor& x, at::IntArrayRef padding, at::IntArrayRef shape) {
    const auto weight = line.view(shape).expand({channels, 1, -1, -1});
    return torch::conv2d(torch::reflection_pad2d(x, padding), weight, /*bias=*/{},
                         at::IntArrayRef{1}, at::IntArrayRef{0}, at::IntArrayRef{1}, channels);
  };
  const auto across = filter(images, {1, 1, 0, 0}, {1, 1, 1, 3});
  return filter(across, {0, 0, 1, 1}, {1, 1, 3, 1});
}

/// The decoder's conditions: a text and an image embedding.
struct Embeddings {
  torch::Tensor image_embedding;
  torch::Tensor text_tokens;
};

/// One stage of the cascade.
struct Diffusion {
  Unet unet{nullptr};
  NoiseScheduler scheduler{nullptr};
  std::int64_t image = 0;
  bool learns_variance = false;  ///< as a second half of the U-Net's output
};

/// The base-2 entropies of the loss that trains a learned variance (arXiv 2102.09672).
namespace variational {

inline torch::Tensor bits_per_item(const torch::Tensor& x) {
  return x.flatten(1).mean(1) / std::numbers::ln2;
}

inline torch::Tensor normal_divergence(const NoiseSchedulerImpl::Posterior& a,
                                       const NoiseSchedulerImpl::Posterior& b) {
  return 0.5 *
         (-1.0 + b.log_variance - a.log_variance + torch::exp(a.log_variance - b.log_variance) +
          (a.mean - b.mean).pow(2) * torch::exp(-b.log_variance));
}

/// The log-likelihood of pixels that have 256 values in [-1, 1].
inline torch::Tensor log_likelihood(const torch::Tensor& x,
                                    const NoiseSchedulerImpl::Posterior& guess) {
  constexpr double kTiny = 1e-12;
  constexpr double kBorder = 0.999;
  const auto cumulated = [](const torch::Tensor& y) {
    return 0.5 * (1.0 + torch::tanh(std::sqrt(2.0 / std::numbers::pi) * (y + 0.044715 * y.pow(3))));
  };
  const auto safe_log = [](const torch::Tensor& y) { return torch::log(y.clamp_min(kTiny)); };
  const auto centred = x - guess.mean;
  const auto inverse = torch::exp(-0.5 * guess.log_variance);
  const auto above = cumulated(inverse * (centred + 1. / 255));
  const auto below = cumulated(inverse * (centred - 1. / 255));
  const auto at_lowest = safe_log(above);
  const auto at_highest = safe_log(1 - below);
  return torch::where(x < -kBorder, at_lowest,
                      torch::where(x > kBorder, at_highest, safe_log(above - below)));
}

}  // namespace variational

/// Makes an image of an embedding in CLIP's space: a U-Net for a small image, another to double it.
struct DecoderImpl : nn::Module {
  /// `size` without what follows from a U-Net's place in the cascade.
  DecoderImpl(const CLIP& shared_clip, UnetSize size, std::int64_t image, std::int64_t small_width,
              std::int64_t large_width)
      : clip(shared_clip) {
    register_buffer("_dummy", torch::ones({1}));
    auto unets = register_module("unets", nn::ModuleList());
    auto schedulers = register_module("noise_schedulers", nn::ModuleList());
    size.width = small_width;
    size.multiples = {1, 2, 4, 8};
    size.has_clip_condition = true;
    size.channels_out = 6;
    small = {Unet(size), NoiseScheduler(NoiseSchedulerImpl::Schedule::cosine, 1), image / 2, true};
    size.width = large_width;
    size.multiples = {1, 2, 4, 8, 16};
    size.has_clip_condition = false;
    size.has_small_image = true;
    size.channels_out = 3;
    large = {Unet(size), NoiseScheduler(NoiseSchedulerImpl::Schedule::linear, 1), image, false};
    for (auto* stage : {&small, &large}) {
      unets->push_back(stage->unet);
      schedulers->push_back(stage->scheduler);
    }
  }

  torch::Tensor sample(const torch::Tensor& image_embedding, const torch::Tensor& texts) {
    const Embeddings embeddings{image_embedding, clip->embed_text(texts).tokens};
    const auto first = sample_stage(small, embeddings, {});
    const auto enlarged = nearest_resize(first, large.image, /*clamps=*/true);
    return sample_stage(large, embeddings, enlarged * 2 - 1);
  }

  torch::Tensor small_loss(const torch::Tensor& images, const torch::Tensor& texts) {
    const auto times = small.scheduler->random_times(images.size(0));
    const auto embeddings = embeddings_of(images, texts);
    return stage_loss(small, nearest_resize(images, small.image, false), times, embeddings, {});
  }

  torch::Tensor large_loss(const torch::Tensor& images, const torch::Tensor& texts) {
    const auto times = large.scheduler->random_times(images.size(0));
    const auto embeddings = embeddings_of(images, texts);
    const auto coarse = coarse_image(images);
    return stage_loss(large, nearest_resize(images, large.image, false), times, embeddings,
                      coarse * 2 - 1);
  }

 private:
  /// A U-Net's output: the noise, and where it learns that the variance.
  struct Prediction {
    torch::Tensor noise;
    torch::Tensor variance;  ///< between its bounds, from -1 to 1; else undefined
  };

  Embeddings embeddings_of(const torch::Tensor& images, const torch::Tensor& texts) {
    const auto image = clip->embed_images(images);
    return {image, clip->embed_text(texts).tokens};
  }

  /// The input that the large stage would get from the small one; half of them, drawn, are blurred.
  torch::Tensor coarse_image(const torch::Tensor& images) const {
    auto coarse = nearest_resize(images, small.image, /*clamps=*/true);
    if (torch::rand({1}).item<float>() < 0.5F) coarse = blurred(coarse);
    return nearest_resize(coarse, large.image, /*clamps=*/true);
  }

  static Prediction predict(Diffusion& stage, const UnetInput& input) {
    const auto output = stage.unet(input);
    if (!stage.learns_variance) return {output, {}};
    const auto halves = output.chunk(2, 1);
    return {halves[0], halves[1]};
  }

  /// The step that the prediction makes.
  static NoiseSchedulerImpl::Posterior step_of(const Diffusion& stage, const Prediction& prediction,
                                               const UnetInput& input, bool clamps) {
    const auto& scheduler = stage.scheduler;
    auto start = scheduler->start_from_noise(input.noisy, input.times, prediction.noise);
    if (clamps) start = start.clamp(-1, 1) / 1.0;
    auto posterior = scheduler->posterior(start, input.noisy, input.times);
    if (!stage.learns_variance) return posterior;
    const auto bound = [&](const torch::Tensor& schedule) {
      return NoiseSchedulerImpl::value_at(schedule, input.times, input.noisy);
    };
    const auto lowest = bound(scheduler->log_variance);
    const auto highest = bound(torch::log(scheduler->betas));
    const auto share = (prediction.variance + 1) * 0.5;
    posterior.log_variance = share * highest + (1 - share) * lowest;
    return posterior;
  }

  /// `coarse`: the small image at the stage's size, undefined in the first stage.
  static torch::Tensor sample_stage(Diffusion& stage, const Embeddings& embeddings,
                                    const torch::Tensor& coarse) {
    const auto& like = embeddings.image_embedding;
    UnetInput input;
    input.noisy = torch::randn({like.size(0), 3, stage.image, stage.image}, like.options());
    input.times = torch::zeros({like.size(0)}, like.options().dtype(torch::kInt64));
    input.image_embedding = like;
    input.text_tokens = embeddings.text_tokens;
    input.small_image = coarse;
    const auto step = step_of(stage, predict(stage, input), input, /*clamps=*/true);
    return (NoiseSchedulerImpl::sampled(step, input.times) + 1) * 0.5;
  }

  static torch::Tensor stage_loss(Diffusion& stage, const torch::Tensor& images,
                                  const torch::Tensor& times, const Embeddings& embeddings,
                                  const torch::Tensor& coarse) {
    const auto noise = torch::randn_like(images);
    const auto start = images * 2 - 1;
    UnetInput input;
    input.noisy = stage.scheduler->noised(start, times, noise);
    input.times = times;
    input.image_embedding = embeddings.image_embedding;
    input.text_tokens = embeddings.text_tokens;
    input.small_image = coarse;
    input.image_dropped = 0.1;
    input.text_dropped = 0.5;
    const auto prediction = predict(stage, input);
    const auto errors = torch::mse_loss(prediction.noise, noise, at::Reduction::None);
    const auto value = errors.flatten(1).mean(1).mean();
    if (!stage.learns_variance) return value;
    return value + 0.001 * variational_loss(stage, prediction, input, start);
  }

  /// Teaches the variance only: the mean is taken as it is.
  static torch::Tensor variational_loss(const Diffusion& stage, const Prediction& prediction,
                                        const UnetInput& input, const torch::Tensor& start) {
    const auto wanted = stage.scheduler->posterior(start, input.noisy, input.times);
    auto got = step_of(stage, prediction, input, /*clamps=*/false);
    got.mean = got.mean.detach();
    const auto divergence = variational::bits_per_item(variational::normal_divergence(wanted, got));
    const auto surprise = variational::bits_per_item(-variational::log_likelihood(start, got));
    return torch::where(input.times == 0, surprise, divergence).mean();
  }

  CLIP clip;  ///< the prior's, which registers it
  Diffusion small, large;
};
TORCH_MODULE(Decoder);

}  // namespace torchwatch::models::dalle2
