#pragma once

#include <array>
#include <optional>
#include <vector>

#include "group_norm_resnet.hpp"
#include "torchwatch/models/torch.hpp"

// Layers run on the samples of many owners (tasks, or single images) at once while all owners still
// have the same weights, and differentiated for each owner by itself: the forward is one ordinary
// layer, the gradient of the weights a grouped one. That is how batching by function transforms
// runs them.
//
// `weights` and `biases` have a leading dimension of owners, usually an expanded one: all owners'
// are equal, and only the first is read. Row r of `x` belongs to owner r modulo owners.

namespace torchwatch::models {

class SharedConvolution : public torch::autograd::Function<SharedConvolution> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weights,
                               const std::optional<torch::Tensor>& biases, std::int64_t stride,
                               std::int64_t padding) {
    context->save_for_backward({x, weights});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["has_bias"] = biases.has_value();
    const auto bias = biases ? biases->select(0, 0) : torch::Tensor();
    return torch::conv2d(x, weights.select(0, 0), bias, stride, padding);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto stride = context->saved_data["stride"].toInt();
    const auto padding = context->saved_data["padding"].toInt();
    const Geometry geometry{.stride = {stride, stride}, .padding = {padding, padding}};
    const auto& gradient = gradients.front();
    torch::Tensor of_x;
    if (context->needs_input_grad(0)) {
      of_x = input_gradient(gradient, saved[0], saved[1].select(0, 0), geometry);
    }
    torch::Tensor of_biases;
    if (context->saved_data["has_bias"].toBool()) {
      of_biases = gradient.unflatten(0, {-1, saved[1].size(0)}).sum({0, 3, 4});
    }
    return {of_x, weight_gradients(gradient, saved[0], saved[1], geometry), of_biases, {}, {}};
  }

 private:
  struct Geometry {
    std::array<std::int64_t, 2> stride;
    std::array<std::int64_t, 2> padding;
  };

  static torch::Tensor input_gradient(const torch::Tensor& gradient, const torch::Tensor& x,
                                      const torch::Tensor& weight, const Geometry& geometry) {
    return std::get<0>(at::convolution_backward(gradient, x, weight, std::nullopt, geometry.stride,
                                                geometry.padding, {1, 1}, /*transposed=*/false,
                                                {0, 0},
                                                /*groups=*/1, {true, false, false}));
  }

  /// Owners become groups of channels. The weight given has the grouped one's shape and no memory,
  /// as its values are not read.
  static torch::Tensor weight_gradients(const torch::Tensor& gradient, const torch::Tensor& x,
                                        const torch::Tensor& weights, const Geometry& geometry) {
    const auto owners = weights.size(0);
    const auto grouped = [owners](const torch::Tensor& rows) {
      return rows.unflatten(0, {-1, owners}).flatten(1, 2);
    };
    auto shape = weights.sizes().slice(1).vec();
    shape.front() *= owners;
    const auto shaped = torch::empty({}, weights.options()).expand(shape);
    const auto gradients = std::get<1>(
        at::convolution_backward(grouped(gradient), grouped(x), shaped, std::nullopt,
                                 geometry.stride, geometry.padding, {1, 1},
                                 /*transposed=*/false, {0, 0}, owners, {false, true, false}));
    return gradients.view(weights.sizes());
  }
};

class SharedLinear : public torch::autograd::Function<SharedLinear> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weights, const torch::Tensor& biases) {
    context->save_for_backward({x, weights});
    return torch::linear(x, weights.select(0, 0), biases.select(0, 0));
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto owners = saved[1].size(0);
    const auto& gradient = gradients.front();
    const auto each_gradient = gradient.unflatten(0, {-1, owners});
    const auto each_x = saved[0].unflatten(0, {-1, owners});
    return {gradient.mm(saved[1].select(0, 0)),
            torch::bmm(each_gradient.permute({1, 2, 0}), each_x.transpose(0, 1)),
            each_gradient.sum(0)};
  }
};

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
