#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "group_norm_resnet.hpp"

namespace torchwatch::models {

/// A gradient with a leading dimension of samples for each of a layer's parameters.
using SampleGradients = std::vector<torch::Tensor>;

namespace sample_gradients {

/// The patches that a convolution's kernel sees: samples x (channels and kernel) x positions.
inline torch::Tensor patches(const torch::nn::Conv2dImpl& layer, const torch::Tensor& x) {
  const auto kernel = layer.options.kernel_size()->front();
  const auto stride = layer.options.stride()->front();
  const auto padding = std::get<torch::ExpandingArray<2>>(layer.options.padding())->front();
  const auto padded = torch::constant_pad_nd(x, {padding, padding, padding, padding});
  return padded.unfold(2, kernel, stride)
      .unfold(3, kernel, stride)
      .permute({0, 1, 4, 5, 2, 3})
      .flatten(4, 5)
      .flatten(1, 3);
}

inline SampleGradients convolution(const torch::nn::Conv2dImpl& layer, const torch::Tensor& x,
                                   const torch::Tensor& gradient) {
  const auto each = torch::einsum("noq,npq->nop", {gradient.flatten(2), patches(layer, x)});
  return {each.unflatten(2, layer.weight.sizes().slice(1))};
}

inline SampleGradients norm(const torch::nn::GroupNormImpl& layer, const torch::Tensor& x,
                            const torch::Tensor& gradient) {
  const auto normal = torch::group_norm(x, layer.options.num_groups(), {}, {}, layer.options.eps());
  return {torch::einsum("ni...->ni", {normal * gradient}), torch::einsum("ni...->ni", {gradient})};
}

inline SampleGradients linear(const torch::Tensor& x, const torch::Tensor& gradient) {
  return {torch::einsum("n...i,n...j->nij", {gradient, x}), torch::einsum("n...k->nk", {gradient})};
}

}  // namespace sample_gradients

/// Layers that keep their input until the gradient of their output arrives and turn the two into
/// the samples' gradients. The usual gradients are computed as well. Must outlive the backward.
class SampleHooks final : public Layers {
 public:
  torch::Tensor convolution(torch::nn::Conv2dImpl& layer, const torch::Tensor& x) override {
    return hooked(layer.forward(x), x, [&layer](const auto& input, const auto& gradient) {
      return sample_gradients::convolution(layer, input, gradient);
    });
  }

  torch::Tensor group_norm(torch::nn::GroupNormImpl& layer, const torch::Tensor& x) override {
    return hooked(layer.forward(x), x, [&layer](const auto& input, const auto& gradient) {
      return sample_gradients::norm(layer, input, gradient);
    });
  }

  torch::Tensor linear(torch::nn::LinearImpl& layer, const torch::Tensor& x) override {
    return hooked(layer.forward(x), x, sample_gradients::linear);
  }

  /// After the backward of a mean over samples: every parameter's, in the order of the layers.
  SampleGradients take() {
    SampleGradients all;
    for (auto& layer : layers_) {
      for (auto& gradient : layer.gradients) all.push_back(std::move(gradient));
    }
    layers_.clear();
    return all;
  }

 private:
  using Rule =
      std::function<SampleGradients(const torch::Tensor& input, const torch::Tensor& gradient)>;
  struct Kept {
    torch::Tensor input;
    SampleGradients gradients;
  };

  torch::Tensor hooked(torch::Tensor output, const torch::Tensor& input, Rule rule) {
    const auto layer = layers_.size();
    layers_.push_back({.input = input.detach(), .gradients = {}});
    output.register_hook([this, layer, rule = std::move(rule)](const torch::Tensor& gradient) {
      const auto kept = std::exchange(layers_[layer].input, {});
      // A mean over samples has divided each one's gradient by their number.
      layers_[layer].gradients = collected(rule(kept, gradient * kept.size(0)));
    });
    return output;
  }

  /// The original adds each gradient to zeros, as a layer might run more than once.
  static SampleGradients collected(const SampleGradients& fresh) {
    SampleGradients sums;
    for (const auto& gradient : fresh) sums.push_back(torch::zeros_like(gradient).copy_(gradient));
    return sums;
  }

  std::vector<Kept> layers_;
};

}  // namespace torchwatch::models
