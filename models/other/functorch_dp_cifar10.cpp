#include "parts/private_classifier.hpp"
#include "parts/shared_weights.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace functorch_dp_cifar10 {

constexpr int kWidth = 64;
constexpr int kSmallWidth = 32;
constexpr int kClasses = 1000;  ///< the original's, though the targets are below 10

class FunctorchDpCifar10Workload final : public PrivateClassifier {
 public:
  explicit FunctorchDpCifar10Workload(const Setup& setup)
      : PrivateClassifier(setup, setup.preset == Preset::paper ? kWidth : kSmallWidth, kClasses) {}

 protected:
  /// The gradients are cleared after the step, and a sample's gradients before it.
  void train_step() override {
    set_gradients(sample_gradients());
    optimizer_->step();
    optimizer_->zero_grad();
  }

 private:
  /// The original makes a function of the network in each step, which copies its weights.
  std::vector<torch::Tensor> sample_gradients() {
    std::vector<torch::Tensor> weights;
    for (const auto& parameter : parameters()) {
      auto shape = parameter.sizes().vec();
      shape.insert(shape.begin(), samples());
      weights.push_back(parameter.detach().clone().expand(shape).requires_grad_());
    }
    SampleWeights layers(weights);
    const auto sum = torch::cross_entropy_loss(network_->forward(images_, layers), target_, {},
                                               at::Reduction::Sum);
    last_loss_ = sum.detach() / samples();
    return torch::autograd::grad({sum}, weights);
  }

  void set_gradients(const std::vector<torch::Tensor>& of_samples) {
    const auto factors = clip_factors(of_samples);
    std::vector<torch::Tensor> gradients;
    for (const auto& each : of_samples) gradients.push_back(clipped_sum(factors, each));
    for (auto& gradient : gradients) gradient = noise_like(gradient) + gradient;
    const auto targets = parameters();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i].mutable_grad() = gradients[i] / samples();
    }
  }
};

}  // namespace functorch_dp_cifar10

TORCHWATCH_DEFINE(functorch_dp_cifar10) {
  return {.domain = "other",
          .task = "differentially private training",
          .paper = {.train = 64, .infer = 64},
          .small = {.train = 4, .infer = 4},
          .no_autocast = "oneDNN has no 16-bit convolution with that number of groups",
          .cut = "first stage 32 channels, batch 4",
          .build = build_as<functorch_dp_cifar10::FunctorchDpCifar10Workload>};
}

}  // namespace torchwatch::models
