#pragma once

#include <memory>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// A network that sorts square colour images into classes, trained by cross entropy. Derived
/// classes draw the targets and choose the optimiser.
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

/// The suite's recipe for nearly all of torchvision's classifiers: 1,000 classes, targets that give
/// each class a random share, Adam.
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

/// A classifier for `Definition::build` whose network is built with the sizes of the preset.
template <typename Classifier, typename Network, const auto& Paper, const auto& Small>
std::unique_ptr<Workload> build_classifier(const Setup& setup) {
  const auto& size = setup.preset == Preset::paper ? Paper : Small;
  return std::make_unique<Classifier>(setup, torch::nn::AnyModule(Network(size)), size.image);
}

/// A classifier for `Definition::build` whose network is the same in both presets; only the width
/// and height of the images differ.
template <typename Classifier, typename Network, int PaperImage, int SmallImage>
std::unique_ptr<Workload> build_fixed_classifier(const Setup& setup) {
  const int image = setup.preset == Preset::paper ? PaperImage : SmallImage;
  return std::make_unique<Classifier>(setup, torch::nn::AnyModule(Network()), image);
}

}  // namespace torchwatch::models
