#pragma once

#include <cmath>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Adam whose adaptive step is corrected for its variance in the first steps (arXiv 1908.03265),
/// tensor by tensor; LibTorch has none in C++. As long as the variance cannot be estimated it steps
/// along the momentum alone.
class RectifiedAdam {
 public:
  RectifiedAdam(std::vector<torch::Tensor> parameters, double learning_rate)
      : parameters_(std::move(parameters)), learning_rate_(learning_rate) {
    for (const auto& parameter : parameters_) {
      momenta_.push_back(torch::zeros_like(parameter));
      variances_.push_back(torch::zeros_like(parameter));
    }
  }

  void zero_grad() {
    for (auto& parameter : parameters_) parameter.mutable_grad().reset();
  }

  void step() {
    const torch::NoGradGuard no_gradients;
    const auto steps = static_cast<double>(++steps_);
    const double beta2_power = std::pow(kBeta2, steps);
    const double length_max = 2 / (1 - kBeta2) - 1;
    const double length = length_max - 2.0 * steps * beta2_power / (1 - beta2_power);
    const bool is_rectified = length >= 5;
    double size = learning_rate_ / (1 - std::pow(kBeta1, steps));
    if (is_rectified) {
      size *= std::sqrt((1 - beta2_power) * (length - 4) / (length_max - 4) * (length - 2) /
                        length * length_max / (length_max - 2));
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) update(i, size, is_rectified);
  }

 private:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-8;

  void update(std::size_t i, double size, bool is_rectified) {
    const auto& gradient = parameters_[i].grad();
    if (!gradient.defined()) return;
    variances_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    momenta_[i].mul_(kBeta1).add_(gradient, 1 - kBeta1);
    if (is_rectified) {
      parameters_[i].addcdiv_(momenta_[i], variances_[i].sqrt().add_(kEpsilon), -size);
    } else {
      parameters_[i].add_(momenta_[i], -size);
    }
  }

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> momenta_;
  std::vector<torch::Tensor> variances_;
  double learning_rate_;
  std::int64_t steps_ = 0;
};

}  // namespace torchwatch::models
