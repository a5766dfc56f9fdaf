#pragma once

#include <memory>
#include <vector>

#include "group_norm_resnet.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// A classifier of small images, trained so that no single image shows in its weights: each
/// sample's gradient is cut to a length, and noise is added to their sum.
class PrivateClassifier : public NetworkWorkload {
 protected:
  static constexpr std::int64_t kLabels = 10;

  PrivateClassifier(const Setup& setup, int width, int classes)
      : NetworkWorkload(setup), samples_(setup.batch), network_(width, classes) {
    adopt({network_.ptr()});
    images_ = place(draw().normal({samples_, 3, kImage, kImage}));
    target_ = place(draw().integers(kLabels, {samples_}));
    if (!is_training()) return;
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

  NamedTensors forward() override {
    Layers layers;
    return {{"", network_->forward(images_, layers)}};
  }
  torch::Tensor loss() override {
    Layers layers;
    return loss_through(layers);
  }

  torch::Tensor loss_through(Layers& layers) {
    return torch::cross_entropy_loss(network_->forward(images_, layers), target_);
  }

  std::int64_t samples() const { return samples_; }

  /// The factor for each sample that clips its gradient, over all parameters, to the length
  /// allowed.
  static torch::Tensor clip_factors(const std::vector<torch::Tensor>& sample_gradients) {
    std::vector<torch::Tensor> lengths;
    for (const auto& each : sample_gradients) {
      lengths.push_back(each.reshape({each.size(0), -1}).norm(2, -1));
    }
    const auto length = torch::stack(lengths, 0).norm(2, 0);
    return (kLongest / (length + 1e-6)).clamp_max(1.0);
  }

  static torch::Tensor clipped_sum(const torch::Tensor& factors, const torch::Tensor& samples) {
    return torch::einsum("i,i...", {factors, samples});
  }

  static torch::Tensor noise_like(const torch::Tensor& gradient) {
    return torch::normal(0.0, kLongest * kNoise, gradient.sizes(), std::nullopt,
                         gradient.options());
  }

 private:
  static constexpr std::int64_t kImage = 32;
  static constexpr double kLongest = 1.0;
  static constexpr double kNoise = 1.0;

  std::int64_t samples_;

 protected:
  GroupNormResNet18 network_;
  torch::Tensor images_;
  torch::Tensor target_;
};

}  // namespace torchwatch::models
