#pragma once

#include <algorithm>
#include <cmath>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The learning rate of the first transformer: it rises by the same amount in each of `warm_up`
/// steps and then falls with the root of the steps taken.
class WarmUpSchedule {
 public:
  WarmUpSchedule(double scale, std::int64_t width, double warm_up)
      : scale_(scale / std::sqrt(static_cast<double>(width))), warm_up_(warm_up) {}

  /// Sets the rate of the next step; to be called before it.
  void advance(torch::optim::Optimizer& optimizer) {
    const auto step = static_cast<double>(++steps_);
    const double rate = scale_ * std::min(1 / std::sqrt(step), step * std::pow(warm_up_, -1.5));
    for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
  }

 private:
  double scale_;
  double warm_up_;
  std::int64_t steps_ = 0;
};

}  // namespace torchwatch::models
