#include "torchwatch/models/draw.hpp"

#include <cmath>
#include <numbers>

namespace torchwatch::models {
namespace {

constexpr std::uint32_t kBufferStreams = 100'000;
constexpr std::uint32_t kInputStreams = 200'000;

std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  x ^= x >> 16U;
  return x;
}

/// Maps the hash to [-1, 1), exact in double.
double signed_unit(std::uint32_t hash) {
  return hash * 0x1p-31 - 1.0;
}

/// Writes value(hash) into every element of `tensor`, in row-major order.
template <typename Element, typename Value>
void write(const torch::Tensor& tensor, std::uint32_t stream, Value value) {
  auto* out = tensor.data_ptr<Element>();
  for (std::int64_t i = 0, n = tensor.numel(); i < n; ++i) {
    out[i] = static_cast<Element>(value(formula_hash(stream, static_cast<std::uint64_t>(i))));
  }
}

/// Fills a contiguous CPU copy first, as the tensor may lie on another device or be float64.
template <typename Value>
void fill_floating(const torch::Tensor& tensor, std::uint32_t stream, Value value) {
  const torch::NoGradGuard no_gradients;
  const bool is_double = tensor.scalar_type() == torch::kFloat64;
  const auto type = is_double ? torch::kFloat64 : torch::kFloat32;
  const auto filled = torch::empty(tensor.sizes(), torch::TensorOptions().dtype(type));
  if (is_double) {
    write<double>(filled, stream, value);
  } else {
    write<float>(filled, stream, value);
  }
  tensor.copy_(filled);
}

bool ends_with(const std::string& name, std::string_view end) {
  return std::string_view(name).ends_with(end);
}

void fill_parameter(const std::string& name, const torch::Tensor& tensor, std::uint32_t stream) {
  if (tensor.dim() >= 2) {
    const double fan_in = static_cast<double>(tensor.numel()) / static_cast<double>(tensor.size(0));
    const double scale = std::sqrt(3.0 / fan_in);
    fill_floating(tensor, stream, [=](std::uint32_t h) { return scale * signed_unit(h); });
    return;
  }
  const double offset = ends_with(name, "weight") ? 1.0 : 0.0;
  fill_floating(tensor, stream, [=](std::uint32_t h) { return 0.1 * signed_unit(h) + offset; });
}

}  // namespace

std::uint32_t formula_hash(std::uint32_t stream, std::uint64_t index) {
  return mix(static_cast<std::uint32_t>(index) + 0x9E3779B9U * (stream + 1U));
}

torch::Tensor Draw::normal(at::IntArrayRef shape) {
  if (fill_ == Fill::random) return torch::randn(shape);
  auto tensor = torch::empty(shape);
  fill_floating(tensor, kInputStreams + drawn_++,
                [](std::uint32_t h) { return std::numbers::sqrt3 * signed_unit(h); });
  return tensor;
}

torch::Tensor Draw::uniform(at::IntArrayRef shape) {
  if (fill_ == Fill::random) return torch::rand(shape);
  auto tensor = torch::empty(shape);
  fill_floating(tensor, kInputStreams + drawn_++, [](std::uint32_t h) { return h * 0x1p-32; });
  return tensor;
}

torch::Tensor Draw::integers(std::int64_t below, at::IntArrayRef shape) {
  const auto whole = torch::TensorOptions().dtype(torch::kInt64);
  if (fill_ == Fill::random) return torch::randint(below, shape, whole);
  auto tensor = torch::empty(shape, whole);
  write<std::int64_t>(tensor, kInputStreams + drawn_++, [=](std::uint32_t h) {
    return static_cast<std::int64_t>((std::uint64_t{h} * static_cast<std::uint64_t>(below)) >> 32U);
  });
  return tensor;
}

void fill_by_formula(const std::vector<std::pair<std::string, torch::Tensor>>& parameters,
                     const std::vector<std::pair<std::string, torch::Tensor>>& buffers) {
  std::uint32_t stream = 0;
  for (const auto& [name, tensor] : parameters) fill_parameter(name, tensor, stream++);
  stream = kBufferStreams;
  for (const auto& [name, tensor] : buffers) {
    if (!tensor.is_floating_point() || tensor.dim() != 1) continue;
    const double offset = ends_with(name, "weight") || ends_with(name, "var") ? 1.0 : 0.0;
    fill_floating(tensor, stream++, [=](std::uint32_t h) { return 0.1 * signed_unit(h) + offset; });
  }
}

}  // namespace torchwatch::models
