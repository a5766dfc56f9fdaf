#pragma once

#include "torchwatch/models/torch.hpp"

/// LibTorch's int8 kernels for CPUs. Most have no function in its C++ interface and are reached by
/// the name of their operator.
namespace torchwatch::models::int8 {

// The original makes its int8 network before the network has seen any data: then each activation
// gets these, whatever its range.
inline constexpr double kScale = 1.0;
inline constexpr std::int64_t kZeroPoint = 0;

inline torch::Tensor quantize(const torch::Tensor& x) {
  return torch::quantize_per_tensor(x, kScale, kZeroPoint, torch::kQUInt8);
}

/// Symmetric numbers with a scale for each output channel.
inline torch::Tensor quantize_weight(const torch::Tensor& weight) {
  constexpr double kHalfRange = 127.5;
  const auto scales = (weight.abs().flatten(1).amax(1) / kHalfRange)
                          .clamp_min(std::numeric_limits<float>::epsilon());
  const auto zero_points = torch::zeros({weight.size(0)}, torch::kInt64);
  return torch::quantize_per_channel(weight, scales, zero_points, 0, torch::kQInt8);
}

inline c10::OperatorHandle operator_named(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

inline c10::IValue call(const c10::OperatorHandle& op, std::vector<c10::IValue> arguments) {
  op.callBoxed(arguments);
  return arguments.front();
}

/// A square convolution's geometry.
struct Convolution {
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t groups;
};

/// Weight and bias in the layout of the kernels.
inline c10::IValue pack(const torch::Tensor& weight, const torch::Tensor& bias,
                        const Convolution& shape) {
  static const auto op = operator_named("quantized::conv2d_prepack");
  const auto both = [](std::int64_t size) { return std::vector<std::int64_t>{size, size}; };
  return call(op, {quantize_weight(weight), bias, both(shape.stride), both(shape.padding), both(1),
                   shape.groups});
}

inline c10::IValue pack(const torch::Tensor& weight, const torch::Tensor& bias) {
  static const auto op = operator_named("quantized::linear_prepack");
  return call(op, {quantize_weight(weight), bias});
}

inline torch::Tensor convolution(const torch::Tensor& x, const c10::IValue& packed) {
  static const auto op = operator_named("quantized::conv2d", "new");
  return call(op, {x, packed, kScale, kZeroPoint}).toTensor();
}

inline torch::Tensor convolution_relu(const torch::Tensor& x, const c10::IValue& packed) {
  static const auto op = operator_named("quantized::conv2d_relu", "new");
  return call(op, {x, packed, kScale, kZeroPoint}).toTensor();
}

inline torch::Tensor linear(const torch::Tensor& x, const c10::IValue& packed) {
  static const auto op = operator_named("quantized::linear");
  return call(op, {x, packed, kScale, kZeroPoint}).toTensor();
}

inline torch::Tensor add(const torch::Tensor& a, const torch::Tensor& b) {
  static const auto op = operator_named("quantized::add");
  return call(op, {a, b, kScale, kZeroPoint}).toTensor();
}

inline torch::Tensor add_relu(const torch::Tensor& a, const torch::Tensor& b) {
  static const auto op = operator_named("quantized::add_relu");
  return call(op, {a, b, kScale, kZeroPoint}).toTensor();
}

/// Clamps to [0, 6] in place.
inline torch::Tensor relu6_(const torch::Tensor& x) {
  static const auto op = operator_named("quantized::relu6");
  return call(op, {x, /*inplace=*/true}).toTensor();
}

}  // namespace torchwatch::models::int8
