#pragma once

#include "int8_operators.hpp"

/// Layers trained for int8. Float tensors take the path of training, where values are rounded to
/// what int8 could hold; quantised tensors take the int8 kernels, after `convert`. So a network is
/// written once for both.
namespace torchwatch::models::qat {

/// The range of a tensor, as a moving average over the batches.
struct MovingAverageObserverImpl : torch::nn::Module {
  MovingAverageObserverImpl(const torch::Tensor& least, const torch::Tensor& greatest)
      : eps(register_buffer("eps", torch::full({1}, std::numeric_limits<float>::epsilon()))),
        min_val(register_buffer("min_val", least)),
        max_val(register_buffer("max_val", greatest)) {}

  torch::Tensor eps;
  torch::Tensor min_val;
  torch::Tensor max_val;
};
TORCH_MODULE(MovingAverageObserver);

/// Observes a tensor's range and rounds the tensor to the int8 numbers of that range.
struct FakeQuantizeImpl : torch::nn::Module {
  enum class Role { activation, weight };

  explicit FakeQuantizeImpl(Role role)
      : is_weight(role == Role::weight),
        fake_quant_enabled(register_buffer("fake_quant_enabled", torch::ones({1}, torch::kInt64))),
        observer_enabled(register_buffer("observer_enabled", torch::ones({1}, torch::kInt64))),
        scale(register_buffer("scale", torch::ones({1}))),
        zero_point(register_buffer("zero_point", torch::zeros({1}, torch::kInt32))),
        observer(register_module("activation_post_process", observer_of(role))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    if (x.is_quantized()) return x;
    constexpr double kAveraging = 0.01;
    // Activations leave a bit unused, so that the 16-bit sums of some int8 kernels hold them.
    const std::int64_t least = is_weight ? -128 : 0;
    constexpr std::int64_t kGreatest = 127;
    return torch::fused_moving_avg_obs_fake_quant(
        x, observer_enabled, fake_quant_enabled, observer->min_val, observer->max_val, scale,
        zero_point, kAveraging, least, kGreatest, /*ch_axis=*/0, /*per_row_fake_quant=*/is_weight,
        /*symmetric_quant=*/is_weight);
  }

  bool is_weight;
  torch::Tensor fake_quant_enabled;
  torch::Tensor observer_enabled;
  torch::Tensor scale;
  torch::Tensor zero_point;
  MovingAverageObserver observer;

 private:
  /// A weight has a range for each output channel: no elements until it is first seen.
  static MovingAverageObserver observer_of(Role role) {
    if (role == Role::weight) return MovingAverageObserver(torch::empty({0}), torch::empty({0}));
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return MovingAverageObserver(torch::tensor(kInfinity), torch::tensor(-kInfinity));
  }
};
TORCH_MODULE(FakeQuantize);

inline FakeQuantize activation_observer() {
  return FakeQuantize(FakeQuantizeImpl::Role::activation);
}

inline FakeQuantize weight_observer() {
  return FakeQuantize(FakeQuantizeImpl::Role::weight);
}

/// A convolution and its normalisation. In training the normalisation's factor is in the weight
/// while that is rounded, and is divided out of the result before the batch is normalised.
struct ConvBn2dImpl : torch::nn::Module {
  ConvBn2dImpl(int from, int to, int kernel, int stride = 1, int groups = 1)
      : weight(register_parameter("weight", torch::empty({to, from / groups, kernel, kernel}))),
        bn(register_module("bn", torch::nn::BatchNorm2d(to))),
        weight_fake_quant(register_module("weight_fake_quant", weight_observer())),
        shape{.stride = stride, .padding = kernel / 2, .groups = groups} {
    torch::nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    if (x.is_quantized()) return int8::convolution(x, packed);
    const auto factor = bn->weight / torch::sqrt(bn->running_var + bn->options.eps());
    const auto rounded = weight_fake_quant(weight * factor.reshape({-1, 1, 1, 1}));
    const auto no_bias = torch::zeros({weight.size(0)}, x.options());
    const auto y = torch::conv2d(x, rounded, no_bias, {shape.stride, shape.stride},
                                 {shape.padding, shape.padding}, /*dilation=*/{1, 1}, shape.groups);
    return bn(y / factor.reshape({1, -1, 1, 1}));
  }

  /// Switches to the int8 kernels, with the normalisation folded into weight and bias.
  void convert() {
    const torch::NoGradGuard no_gradients;
    const auto factor = bn->weight * (bn->running_var + bn->options.eps()).rsqrt();
    packed = int8::pack(weight * factor.reshape({-1, 1, 1, 1}),
                        bn->bias - bn->running_mean * factor, shape);
  }

  torch::Tensor weight;
  torch::nn::BatchNorm2d bn;
  FakeQuantize weight_fake_quant;
  int8::Convolution shape;
  c10::IValue packed;  ///< after `convert`
};
TORCH_MODULE(ConvBn2d);

/// The same with a rectifier.
struct ConvBnReLU2dImpl : ConvBn2dImpl {
  using ConvBn2dImpl::ConvBn2dImpl;

  torch::Tensor forward(const torch::Tensor& x) {
    if (x.is_quantized()) return int8::convolution_relu(x, packed);
    return torch::relu(ConvBn2dImpl::forward(x));
  }
};
TORCH_MODULE(ConvBnReLU2d);

struct LinearImpl : torch::nn::LinearImpl {
  LinearImpl(std::int64_t from, std::int64_t to)
      : torch::nn::LinearImpl(from, to),
        weight_fake_quant(register_module("weight_fake_quant", weight_observer())) {}

  torch::Tensor forward(const torch::Tensor& x) {
    if (x.is_quantized()) return int8::linear(x, packed);
    return torch::linear(x, weight_fake_quant(weight), bias);
  }

  void convert() {
    const torch::NoGradGuard no_gradients;
    packed = int8::pack(weight, bias);
  }

  FakeQuantize weight_fake_quant;
  c10::IValue packed;  ///< after `convert`
};
TORCH_MODULE(Linear);

inline torch::Tensor add(const torch::Tensor& a, const torch::Tensor& b) {
  return a.is_quantized() ? int8::add(a, b) : a + b;
}

inline torch::Tensor add_relu(const torch::Tensor& a, const torch::Tensor& b) {
  return a.is_quantized() ? int8::add_relu(a, b) : (a + b).relu_();
}

/// Clamps to [0, 6] in place.
inline torch::Tensor relu6_(const torch::Tensor& x) {
  return x.is_quantized() ? int8::relu6_(x) : torch::nn::functional::relu6(x, /*inplace=*/true);
}

/// The average of each channel. Neither step changes the range, so one observer rounds after both.
inline torch::Tensor pooled_features(const torch::Tensor& x, FakeQuantize& observer) {
  const auto averages = observer(torch::adaptive_avg_pool2d(x, {1, 1}));
  return observer(torch::flatten(averages, 1));
}

/// Prepares all layers of `network` for quantised tensors.
inline void convert(torch::nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* convolution = module->as<ConvBn2dImpl>()) convolution->convert();
    if (auto* linear = module->as<LinearImpl>()) linear->convert();
  }
}

}  // namespace torchwatch::models::qat
