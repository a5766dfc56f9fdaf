#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "torchwatch/models/draw.hpp"
#include "torchwatch/models/registry.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The box of an ocean model: points along longitude, latitude and depth.
struct OceanBox {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;

  /// A flat box of about this many elements, rounded up as in the original.
  static OceanBox of(int elements) {
    const double side = std::cbrt(elements);
    const auto wide = static_cast<std::int64_t>(std::ceil(2 * side));
    return {wide, wide, static_cast<std::int64_t>(std::ceil(0.25 * side))};
  }
};

/// Draws an ocean model's fields: double precision, on the device.
class OceanFields {
 public:
  OceanFields(Draw& draw, torch::Device device) : draw_(&draw), device_(device) {}

  torch::Tensor normal(at::IntArrayRef shape) { return placed(draw_->normal(shape)); }

  torch::Tensor uniform(double low, double high, at::IntArrayRef shape) {
    return placed(draw_->uniform(shape)) * (high - low) + low;
  }

  /// Water in four of five points.
  torch::Tensor mask(at::IntArrayRef shape) { return placed(draw_->uniform(shape) < 0.8); }

  torch::Tensor levels(std::int64_t below, at::IntArrayRef shape) {
    return draw_->integers(below, shape).to(device_);
  }

 private:
  torch::Tensor placed(const torch::Tensor& drawn) const {
    return drawn.to(device_, torch::kFloat64);
  }

  Draw* draw_;
  torch::Device device_;
};

/// One-dimensional values, ready to be combined with fields.
inline torch::Tensor along_x(const torch::Tensor& values) {
  return values.unsqueeze(1).unsqueeze(2);
}
inline torch::Tensor along_y(const torch::Tensor& values) {
  return values.unsqueeze(0).unsqueeze(2);
}
inline torch::Tensor along_z(const torch::Tensor& values) {
  return values.unsqueeze(0).unsqueeze(1);
}

/// A number to compare fields with. The originals make a tensor of it in each call as well.
inline torch::Tensor constant(float value, torch::Device device) {
  return torch::tensor({value}, device);
}

/// The definition that the ocean models share: a forward only, and a batch that is the number of
/// points.
inline Definition ocean_definition(std::unique_ptr<Workload> (*build)(const Setup&)) {
  return {.domain = "other",
          .task = "ocean simulation",
          .paper = {.infer = 1'048'576},
          .small = {.infer = 32'768},
          .batch_rule = BatchRule::fixed,
          .refusals = {.train = "the original has nothing to train"},
          .cut = "64x64x8 points",
          .build = build};
}

}  // namespace torchwatch::models
