#pragma once

#include "quantization_aware.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// A classifier of images that is trained for int8 and runs in int8. Whatever the batch, it runs on
/// the first image only, as in the original.
class QuantizedClassifier final : public NetworkWorkload {
 public:
  static constexpr int kClasses = 1000;

  QuantizedClassifier(const Setup& setup, torch::nn::AnyModule network, std::int64_t image)
      : NetworkWorkload(setup), network_(std::move(network)) {
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, image, image}));
    if (!is_training()) {
      qat::convert(*network_.ptr());
      return;
    }
    target_ = place(draw().integers(kClasses, {setup.batch}));
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

 protected:
  NamedTensors forward() override {
    if (is_training()) return {{"", network_.forward(images_)}};
    return {{"", network_.forward(int8::quantize(first_image())).dequantize()}};
  }
  /// The figures describe the network of floats.
  void counted_forward() override { network_.forward(first_image()); }
  torch::Tensor loss() override {
    return torch::nn::functional::cross_entropy(network_.forward(images_), target_);
  }

 private:
  torch::Tensor first_image() const { return images_.narrow(0, 0, 1); }

  torch::nn::AnyModule network_;
  torch::Tensor images_;
  torch::Tensor target_;
};

}  // namespace torchwatch::models
