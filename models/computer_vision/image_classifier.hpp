#pragma once

#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// A network that sorts square colour images into classes, trained by cross entropy. Who derives
/// from it draws the targets and chooses the optimiser.
class ImageClassifier : public NetworkWorkload {
 protected:
  ImageClassifier(const Setup& setup, torch::nn::AnyModule network, std::int64_t image)
      : NetworkWorkload(setup), network_(std::move(network)) {
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, image, image}));
  }

  NamedTensors forward() override { return {{"", network_.forward(images_)}}; }
  torch::Tensor loss() override {
    return torch::nn::functional::cross_entropy(network_.forward(images_), target_);
  }

  torch::Tensor target_;

 private:
  torch::nn::AnyModule network_;
  torch::Tensor images_;
};

/// As the suite runs nearly all of torchvision's classifiers: 1,000 classes, targets that give each
/// class a random share, Adam.
class TorchvisionClassifier final : public ImageClassifier {
 public:
  static constexpr int kClasses = 1000;

  TorchvisionClassifier(const Setup& setup, torch::nn::AnyModule network, std::int64_t image)
      : ImageClassifier(setup, std::move(network), image) {
    if (!is_training()) return;
    target_ = place(draw().uniform({setup.batch, kClasses}));
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }
};

}  // namespace torchwatch::models
