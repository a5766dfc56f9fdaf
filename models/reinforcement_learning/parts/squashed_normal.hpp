#pragma once

#include <cmath>
#include <numbers>
#include <utility>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A normal distribution squeezed into (-1, 1) by tanh. Arguments and samples are checked over all
/// elements, as PyTorch's distributions do by default.
class SquashedNormal {
 public:
  SquashedNormal(torch::Tensor location, torch::Tensor scale)
      : location_(std::move(location)), scale_(std::move(scale)) {
    demand(location_.eq(location_), "the location must be a number");
    demand(scale_ > 0, "the scale must be positive");
  }

  torch::Tensor mean() const { return location_.tanh(); }

  /// A sample that gradients flow through, with the logarithm of its density.
  struct Sample {
    torch::Tensor value;
    torch::Tensor log_density;
  };
  Sample sample() const {
    const auto raw = draw();
    const auto value = raw.tanh();
    demand((value >= -1).logical_and(value <= 1), "a sample must lie in [-1, 1]");
    demand(raw.eq(raw), "a raw sample must be a number");
    const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    const auto normal =
        -(raw - location_).pow(2) / (2 * scale_.pow(2)) - scale_.log() - half_log_two_pi;
    // log(1 - tanh^2), in its numerically stable form.
    const auto squeeze = 2.0 * (std::numbers::ln2 - raw - torch::softplus(-2.0 * raw));
    return {value, normal - squeeze};
  }

  torch::Tensor draw_value() const { return draw().tanh(); }

 private:
  torch::Tensor draw() const { return location_ + torch::randn_like(location_) * scale_; }

  static void demand(const torch::Tensor& holds, const char* what) {
    TORCH_CHECK(holds.all().item<bool>(), "SquashedNormal: ", what);
  }

  torch::Tensor location_;
  torch::Tensor scale_;
};

}  // namespace torchwatch::models
