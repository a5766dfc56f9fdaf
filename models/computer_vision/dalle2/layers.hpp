#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "torchwatch/models/torch.hpp"

/// Layers and diffusion steps shared by the prior and the U-Nets of DALL-E 2.
namespace torchwatch::models::dalle2 {

namespace nn = torch::nn;

inline torch::Tensor unit_length(const torch::Tensor& x) {
  return nn::functional::normalize(x, nn::functional::NormalizeFuncOptions().dim(-1));
}

/// One decision for each item of a batch, true with this probability.
inline torch::Tensor chances(std::int64_t batch, double probability, torch::Device device) {
  const auto on = torch::TensorOptions().device(device);
  if (probability == 1) return torch::ones({batch}, on.dtype(torch::kBool));
  return torch::zeros({batch}, on).uniform_(0, 1) < probability;
}

/// `x` filled up to `length` along its second dimension.
inline torch::Tensor padded_to(const torch::Tensor& x, std::int64_t length) {
  const auto missing = length - x.size(1);
  if (missing == 0) return x;
  if (x.dim() == 2) return torch::constant_pad_nd(x, {0, missing});
  return torch::constant_pad_nd(x, {0, 0, 0, missing});
}

/// A layer norm without a bias; `stable` divides by the greatest element first, against overflow.
struct LayerNormImpl : nn::Module {
  explicit LayerNormImpl(std::int64_t width, bool stable = false)
      : is_stable(stable), g(register_parameter("g", torch::ones({width}))) {}

  torch::Tensor forward(torch::Tensor x) {
    if (is_stable) x = x / x.amax(-1, /*keepdim=*/true).detach();
    const auto variance = torch::var(x, -1, /*unbiased=*/false, /*keepdim=*/true);
    const auto mean = torch::mean(x, -1, /*keepdim=*/true);
    return (x - mean) * (variance + 1e-5).rsqrt() * g;
  }

  bool is_stable;
  torch::Tensor g;
};
TORCH_MODULE(LayerNorm);

/// A number as sines and cosines of falling frequencies.
struct SinusoidalPosEmbImpl : nn::Module {
  explicit SinusoidalPosEmbImpl(std::int64_t wide) : width(wide) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto half = width / 2;
    const double step = std::log(10000.0) / static_cast<double>(half - 1);
    const auto frequencies = torch::exp(torch::arange(half, x.options()) * -step);
    const auto angles = x.unsqueeze(1) * frequencies.unsqueeze(0);
    return torch::cat({angles.sin(), angles.cos()}, -1);
  }

  std::int64_t width;
};
TORCH_MODULE(SinusoidalPosEmb);

/// Rotates pairs of the first values of each query or key by an angle that grows with its position.
struct RotaryEmbeddingImpl : nn::Module {
  explicit RotaryEmbeddingImpl(std::int64_t wide) : width(wide) {
    const auto exponents = torch::arange(0, width, 2).to(torch::kFloat32) / width;
    freqs = register_parameter("freqs", torch::pow(10000.0, exponents).reciprocal(),
                               /*requires_grad=*/false);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto angles = angles_of(x);
    const auto turning = x.narrow(-1, 0, width);
    const auto turned = turning * angles.cos() + quarter_turn(turning) * angles.sin();
    return torch::cat({turned, x.narrow(-1, width, x.size(-1) - width)}, -1);
  }

  std::int64_t width;
  torch::Tensor freqs;

 private:
  static torch::Tensor quarter_turn(const torch::Tensor& x) {
    const auto pairs = x.unflatten(-1, {-1, 2});
    return torch::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(-2);
  }

  /// Made once for a length.
  torch::Tensor angles_of(const torch::Tensor& x) {
    const auto length = x.size(-2);
    if (kept.defined() && kept.size(0) == length) return kept;
    const auto places = torch::arange(length, freqs.options());
    kept = (places.unsqueeze(1) * freqs).repeat_interleave(2, -1);
    return kept;
  }

  torch::Tensor kept;
};
TORCH_MODULE(RotaryEmbedding);

struct AttentionOptions {
  std::int64_t heads = 8;
  std::int64_t head_width = 64;
  bool is_causal = false;
  bool by_cosine = false;  ///< compares directions only
};

/// Queries of several heads, keys and values of one, and one learned key and value for nothing.
struct AttentionImpl : nn::Module {
  AttentionImpl(std::int64_t width, AttentionOptions how,
                RotaryEmbedding turning = RotaryEmbedding(nullptr))
      : options(how),
        null_kv(register_parameter("null_kv", torch::randn({2, how.head_width}))),
        norm(register_module("norm", LayerNorm(width))),
        to_q(register_module("to_q", linear(width, how.heads * how.head_width))),
        to_kv(register_module("to_kv", linear(width, 2 * how.head_width))),
        rotary(std::move(turning)) {
    if (rotary) register_module("rotary_emb", rotary);
    to_out = register_module(
        "to_out", nn::Sequential(linear(how.heads * how.head_width, width), LayerNorm(width)));
  }

  /// `bias`, where defined, is added to the similarities.
  torch::Tensor forward(const torch::Tensor& input, const torch::Tensor& bias = {}) {
    const auto batch = input.size(0);
    const double scale =
        options.by_cosine ? 16 : 1 / std::sqrt(static_cast<double>(options.head_width));
    const auto x = norm(input);
    auto q = to_q(x).unflatten(-1, {options.heads, -1}).transpose(1, 2) * scale;
    const auto kv = to_kv(x).chunk(2, -1);
    auto k = kv[0];
    if (rotary) {
      q = rotary(q);
      k = rotary(k);
    }
    const auto with_null = [&](std::int64_t which, const torch::Tensor& others) {
      return torch::cat({null_kv[which].expand({batch, 1, -1}), others}, -2);
    };
    k = with_null(0, k);
    const auto v = with_null(1, kv[1]);
    if (options.by_cosine) {
      q = unit_length(q);
      k = unit_length(k);
    }
    auto similarity = torch::einsum("bhid,bjd->bhij", {q * std::sqrt(scale), k * std::sqrt(scale)});
    if (bias.defined()) similarity = similarity + bias;
    if (options.is_causal) similarity = masked(similarity);
    const auto attention = torch::softmax(similarity, -1);
    const auto seen = torch::einsum("bhij,bjd->bhid", {attention, v});
    return to_out->forward(seen.transpose(1, 2).flatten(2));
  }

  static nn::Linear linear(std::int64_t from, std::int64_t to) {
    return nn::Linear(nn::LinearOptions(from, to).bias(false));
  }

  AttentionOptions options;
  torch::Tensor null_kv;
  LayerNorm norm;
  nn::Linear to_q, to_kv;
  RotaryEmbedding rotary;  ///< shared by a transformer's layers
  nn::Sequential to_out{nullptr};

 private:
  static torch::Tensor masked(const torch::Tensor& similarity) {
    const auto rows = similarity.size(-2);
    const auto columns = similarity.size(-1);
    const auto later =
        torch::ones({rows, columns}, torch::TensorOptions(torch::kBool).device(similarity.device()))
            .triu(columns - rows + 1);
    return similarity.masked_fill(later, std::numeric_limits<float>::lowest());
  }
};
TORCH_MODULE(Attention);

/// The noise of a diffusion and what follows from it. As the workload has one step only, most of
/// its values are 0 or 1.
struct NoiseSchedulerImpl : nn::Module {
  enum class Schedule { cosine, linear };

  NoiseSchedulerImpl(Schedule schedule, std::int64_t timesteps) : steps(timesteps) {
    const auto betas_64 =
        schedule == Schedule::cosine ? cosine_schedule(steps) : linear_schedule(steps);
    const auto alphas_64 = 1 - betas_64;
    const auto product = torch::cumprod(alphas_64, 0);
    const auto product_before = torch::constant_pad_nd(product.narrow(0, 0, steps - 1), {1, 0}, 1);
    const auto keep = [this](const char* name, const torch::Tensor& values) {
      return register_buffer(name, values.to(torch::kFloat32));
    };
    betas = keep("betas", betas_64);
    keep("alphas_cumprod", product);
    keep("alphas_cumprod_prev", product_before);
    sqrt_product = keep("sqrt_alphas_cumprod", product.sqrt());
    sqrt_rest = keep("sqrt_one_minus_alphas_cumprod", (1 - product).sqrt());
    keep("log_one_minus_alphas_cumprod", (1 - product).log());
    sqrt_inverse = keep("sqrt_recip_alphas_cumprod", (1 / product).sqrt());
    sqrt_inverse_rest = keep("sqrt_recipm1_alphas_cumprod", (1 / product - 1).sqrt());
    const auto variance = betas_64 * (1 - product_before) / (1 - product);
    keep("posterior_variance", variance);
    log_variance = keep("posterior_log_variance_clipped", variance.clamp_min(1e-20).log());
    from_start = keep("posterior_mean_coef1", betas_64 * product_before.sqrt() / (1 - product));
    from_noisy =
        keep("posterior_mean_coef2", (1 - product_before) * alphas_64.sqrt() / (1 - product));
    keep("p2_loss_weight", torch::ones_like(product));  // the power of 0: not used
  }

  torch::Tensor random_times(std::int64_t batch) const {
    return torch::randint(steps, {batch}, betas.options().dtype(torch::kInt64));
  }

  /// One value for each item, shaped to multiply `x`.
  static torch::Tensor spread(const torch::Tensor& values, const torch::Tensor& x) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
    shape[0] = x.size(0);
    return values.reshape(shape);
  }

  /// The schedule's value at each item's step, shaped to multiply `x`.
  static torch::Tensor value_at(const torch::Tensor& schedule, const torch::Tensor& times,
                                const torch::Tensor& x) {
    return spread(schedule.gather(-1, times), x);
  }

  torch::Tensor noised(const torch::Tensor& start, const torch::Tensor& times,
                       const torch::Tensor& noise) const {
    return value_at(sqrt_product, times, start) * start + value_at(sqrt_rest, times, start) * noise;
  }

  torch::Tensor start_from_noise(const torch::Tensor& noisy, const torch::Tensor& times,
                                 const torch::Tensor& noise) const {
    return value_at(sqrt_inverse, times, noisy) * noisy -
           value_at(sqrt_inverse_rest, times, noisy) * noise;
  }

  /// The distribution of the step before, given its end and its start.
  struct Posterior {
    torch::Tensor mean, log_variance;
  };

  Posterior posterior(const torch::Tensor& start, const torch::Tensor& noisy,
                      const torch::Tensor& times) const {
    const auto mean =
        value_at(from_start, times, noisy) * start + value_at(from_noisy, times, noisy) * noisy;
    return {mean, value_at(log_variance, times, noisy)};
  }

  /// Draws from it; the last step, 0, adds no noise.
  static torch::Tensor sampled(const Posterior& posterior, const torch::Tensor& times) {
    const auto noise = torch::randn_like(posterior.mean);
    const auto is_before_last = spread(1 - (times == 0).to(torch::kFloat32), posterior.mean);
    return posterior.mean + is_before_last * (0.5 * posterior.log_variance).exp() * noise;
  }

  std::int64_t steps;
  torch::Tensor betas, log_variance;

 private:
  static torch::Tensor cosine_schedule(std::int64_t steps) {
    constexpr double kOffset = 0.008;
    const auto x = torch::linspace(0, static_cast<double>(steps), steps + 1, torch::kFloat64);
    auto product =
        torch::cos((x / steps + kOffset) / (1 + kOffset) * std::numbers::pi * 0.5).pow(2);
    product = product / product[0];
    const auto kept = product.narrow(0, 1, steps) / product.narrow(0, 0, steps);
    return torch::clip(1 - kept, 0, 0.999);
  }

  static torch::Tensor linear_schedule(std::int64_t steps) {
    const double scale = 1000 / static_cast<double>(steps);
    return torch::linspace(scale * 0.0001, scale * 0.02, steps, torch::kFloat64);
  }

  torch::Tensor sqrt_product, sqrt_rest, sqrt_inverse, sqrt_inverse_rest, from_start, from_noisy;
};
TORCH_MODULE(NoiseScheduler);

}  // namespace torchwatch::models::dalle2
