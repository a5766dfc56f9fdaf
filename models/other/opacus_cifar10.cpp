#include "parts/private_classifier.hpp"
#include "parts/sample_hooks.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace opacus_cifar10 {

constexpr int kWidth = 64;
constexpr int kSmallWidth = 32;
constexpr int kClasses = 10;

class OpacusCifar10Workload final : public PrivateClassifier {
 public:
  explicit OpacusCifar10Workload(const Setup& setup)
      : PrivateClassifier(setup, setup.preset == Preset::paper ? kWidth : kSmallWidth, kClasses) {}

 protected:
  /// The samples' gradients live until the gradients are cleared, after the step.
  void train_step() override {
    SampleHooks layers;
    const auto value = loss_through(layers);
    value.backward();
    const auto of_samples = layers.take();
    set_gradients(of_samples);
    optimizer_->step();
    optimizer_->zero_grad();
    last_loss_ = value.detach();
  }

 private:
  void set_gradients(const SampleGradients& of_samples) {
    const auto factors = clip_factors(of_samples);
    SampleGradients sums;
    for (const auto& each : of_samples) sums.push_back(clipped_sum(factors, each));
    const auto targets = parameters();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i].mutable_grad() = sums[i] + noise_like(sums[i]);
    }
    for (const auto& target : targets) target.mutable_grad() /= samples();
  }
};

}  // namespace opacus_cifar10

TORCHWATCH_DEFINE(opacus_cifar10) {
  return {.domain = "other",
          .task = "differentially private training",
          .paper = {.train = 64, .infer = 64},
          .small = {.train = 4, .infer = 4},
          .cut = "first stage 32 channels, batch 4",
          .build = build_as<opacus_cifar10::OpacusCifar10Workload>};
}

}  // namespace torchwatch::models
