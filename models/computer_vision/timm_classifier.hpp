#pragma once

#include "image_classifier.hpp"
#include "timm_optimizer.hpp"

namespace torchwatch::models::timm {

constexpr int kClasses = 1000;

/// As the suite runs each of timm's classifiers.
class Classifier final : public ImageClassifier {
 public:
  Classifier(const Setup& setup, const torch::nn::AnyModule& network, std::int64_t image,
             const std::set<std::string>& undecayed = {})
      : ImageClassifier(setup, network, image) {
    if (!is_training()) return;
    target_ = place(draw().integers(kClasses, {setup.batch}));
    const auto options = torch::optim::SGDOptions(1e-4).momentum(0.9).nesterov(true);
    optimizer_ = decaying_sgd(*network.ptr(), options, /*decay=*/1e-4, undecayed);
  }

 protected:
  /// The original draws other classes in each step, after the forward and on the device.
  void train_step() override {
    optimizer_->zero_grad();
    const auto output = forward().front().second;
    target_ = torch::empty_like(target_).random_(kClasses);
    const auto value = torch::nn::functional::cross_entropy(output, target_);
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
  }
};

}  // namespace torchwatch::models::timm
