#pragma once

#include <vector>

#include "group_norm_resnet.hpp"
#include "shared_weights.hpp"

namespace torchwatch::models {

/// Layers with one weight a sample, all equal, taken in the order of the network's parameters: the
/// loss differentiated by them is each sample's gradient.
class SampleWeights final : public Layers {
 public:
  explicit SampleWeights(const std::vector<torch::Tensor>& weights) : next_(weights.begin()) {}

  torch::Tensor convolution(torch::nn::Conv2dImpl& layer, const torch::Tensor& x) override {
    const auto stride = layer.options.stride()->front();
    const auto padding = std::get<torch::ExpandingArray<2>>(layer.options.padding())->front();
    return SharedConvolution::apply(x, *next_++, std::nullopt, stride, padding);
  }

  torch::Tensor group_norm(torch::nn::GroupNormImpl& layer, const torch::Tensor& x) override {
    const auto normal =
        torch::group_norm(x, layer.options.num_groups(), {}, {}, layer.options.eps());
    const auto scale = next_++->unflatten(1, {-1, 1, 1});
    const auto shift = next_++->unflatten(1, {-1, 1, 1});
    return normal * scale + shift;
  }

  torch::Tensor linear(torch::nn::LinearImpl&, const torch::Tensor& x) override {
    const auto& weights = *next_++;
    const auto& biases = *next_++;
    return SharedLinear::apply(x, weights, biases);
  }

 private:
  std::vector<torch::Tensor>::const_iterator next_;
};

}  // namespace torchwatch::models
