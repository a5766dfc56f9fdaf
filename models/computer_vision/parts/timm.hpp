#pragma once

#include <cmath>
#include <set>
#include <string>

#include "classifier.hpp"
#include "torchwatch/models/torch.hpp"

/// Layers that several of timm's networks share, by timm's names (commit 45af496).
namespace torchwatch::models::timm {

namespace nn = torch::nn;

enum class Activation { none, relu, silu };

/// Batch normalisation and the activation after it, which works in place.
struct BatchNormAct2dImpl : nn::BatchNorm2dImpl {
  BatchNormAct2dImpl(std::int64_t channels, Activation then, double epsilon = 1e-5)
      : nn::BatchNorm2dImpl(nn::BatchNormOptions(channels).eps(epsilon)), activation(then) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = nn::BatchNorm2dImpl::forward(x);
    if (activation == Activation::relu) return y.relu_();
    if (activation == Activation::silu) return torch::silu_(y);
    return y;
  }

  Activation activation;
};
TORCH_MODULE(BatchNormAct2d);

struct ConvNormActImpl : nn::Module {
  explicit ConvNormActImpl(nn::Conv2d convolution, Activation then = Activation::relu)
      : conv(register_module("conv", std::move(convolution))),
        bn(register_module("bn", BatchNormAct2d(conv->options.out_channels(), then))) {}

  torch::Tensor forward(const torch::Tensor& x) { return bn(conv(x)); }

  nn::Conv2d conv;
  BatchNormAct2d bn;
};
TORCH_MODULE(ConvNormAct);

/// Squeeze and excitation: scales each channel by a gate computed from the means of all.
struct SEModuleImpl : nn::Module {
  SEModuleImpl(std::int64_t channels, std::int64_t reduced)
      : fc1(register_module("fc1", nn::Conv2d(nn::Conv2dOptions(channels, reduced, 1)))),
        fc2(register_module("fc2", nn::Conv2d(nn::Conv2dOptions(reduced, channels, 1)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto means = x.mean({2, 3}, /*keepdim=*/true);
    return x * torch::sigmoid(fc2(fc1(means).relu_()));
  }

  nn::Conv2d fc1, fc2;
};
TORCH_MODULE(SEModule);

inline torch::Tensor pool_globally(const torch::Tensor& x) {
  return torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

/// Global average pooling and one linear layer.
struct ClassifierHeadImpl : nn::Module {
  ClassifierHeadImpl(std::int64_t features, std::int64_t classes)
      : fc(register_module("fc", nn::Linear(features, classes))) {}

  torch::Tensor forward(const torch::Tensor& x) { return fc(pool_globally(x)); }

  nn::Linear fc;
};
TORCH_MODULE(ClassifierHead);

/// First values of a convolution: normal, by the number of outputs that an input reaches.
inline void spread_by_fan_out(nn::Conv2dImpl& convolution) {
  const auto& weight = convolution.weight;
  const auto reached = weight.size(0) * weight[0][0].numel() / convolution.options.groups();
  nn::init::normal_(weight, 0, std::sqrt(2.0 / static_cast<double>(reached)));
  if (convolution.bias.defined()) nn::init::zeros_(convolution.bias);
}

/// SGD as timm configures it: weights of two or more dimensions decay, except those named.
inline std::unique_ptr<torch::optim::Optimizer> decaying_sgd(
    const torch::nn::Module& network, const torch::optim::SGDOptions& options, double decay,
    const std::set<std::string>& undecayed = {}) {
  std::vector<torch::Tensor> still;
  std::vector<torch::Tensor> decaying;
  for (const auto& each : network.named_parameters()) {
    const bool decays = each.value().dim() > 1 && !undecayed.contains(each.key());
    (decays ? decaying : still).push_back(each.value());
  }
  using torch::optim::SGDOptions;
  auto with_decay = options;
  with_decay.weight_decay(decay);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::move(still), std::make_unique<SGDOptions>(options));
  groups.emplace_back(std::move(decaying), std::make_unique<SGDOptions>(with_decay));
  return std::make_unique<torch::optim::SGD>(std::move(groups), options);
}

constexpr int kClasses = 1000;

/// The suite's recipe for timm's classifiers.
class Classifier final : public ImageClassifier {
 public:
  Classifier(const Setup& setup, const torch::nn::AnyModule& network, std::int64_t image,
             const std::set<std::string>& undecayed = {})
      : ImageClassifier(setup, network, image), draws_classes_(setup.fill == Fill::random) {
    if (!is_training()) return;
    target_ = place(draw().integers(kClasses, {setup.batch}));
    const auto options = torch::optim::SGDOptions(1e-4).momentum(0.9).nesterov(true);
    optimizer_ = decaying_sgd(*network.ptr(), options, /*decay=*/1e-4, undecayed);
  }

 protected:
  /// The original draws other classes in each step, after the forward and on the device. Where two
  /// implementations are compared, the classes of the formula stay.
  torch::Tensor loss() override {
    const auto output = forward().front().second;
    if (draws_classes_) target_ = torch::empty_like(target_).random_(kClasses);
    return torch::nn::functional::cross_entropy(output, target_);
  }

 private:
  bool draws_classes_;
};

}  // namespace torchwatch::models::timm
