#include <chrono>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEnough{200};
constexpr int kProductsMin = 3;

/// A larger product takes a processor minutes; a GPU is at its fastest beyond it.
constexpr int kRowsMaxOnCpu = 4096;

/// The type of a product's factors; with autocast the type that it casts them to.
torch::ScalarType type_of(models::Device device, models::Precision precision) {
  const bool mixed = precision == models::Precision::amp;
  if (mixed) return device == models::Device::cuda ? torch::kFloat16 : torch::kBFloat16;
  if (precision == models::Precision::fp16) return torch::kFloat16;
  if (precision == models::Precision::bf16) return torch::kBFloat16;
  return torch::kFloat32;
}

double seconds_of_product(const torch::Tensor& a, const torch::Tensor& b, torch::Tensor& result,
                          models::Device device) {
  const auto begin = Clock::now();
  at::mm_out(result, a, b);
  synchronise(device);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double fastest(int size, const torch::TensorOptions& options, models::Device device) {
  const auto a = torch::rand({size, size}, torch::kFloat32).to(options);
  const auto b = torch::rand({size, size}, torch::kFloat32).to(options);
  auto result = torch::empty({size, size}, options);
  seconds_of_product(a, b, result, device);
  double least = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int made = 0; made < kProductsMin || Clock::now() - begin < kEnough; ++made) {
    least = std::min(least, seconds_of_product(a, b, result, device));
  }
  return least;
}

}  // namespace

GemmPeak measure_gemm_peak(models::Device device, models::Precision precision) {
  const torch::NoGradGuard no_gradients;
  if (precision == models::Precision::tf32) allow_tf32();
  const auto options = torch::TensorOptions(type_of(device, precision))
                           .device(device == models::Device::cuda ? torch::kCUDA : torch::kCPU);
  GemmPeak peak;
  for (const int size : {256, 512, 1024, 2048, 4096, 8192}) {
    if (size > kRowsMaxOnCpu && device == models::Device::cpu) break;
    const double flops = 2.0 * size * size * size;
    const double speed = flops / fastest(size, options, device);
    if (speed > peak.flops_per_second) peak = {speed, size};
  }
  return peak;
}

}  // namespace torchwatch::runner
