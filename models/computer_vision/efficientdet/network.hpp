#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "../parts/layers.hpp"
#include "loss.hpp"

namespace torchwatch::models::efficientdet {

namespace nn = torch::nn;

constexpr int kChannels = 88;  ///< in the pyramid and in the heads

inline nn::BatchNorm2d batch_norm() {
  return nn::BatchNorm2d(nn::BatchNormOptions(kChannels).eps(1e-3).momentum(0.01));
}

/// A 1x1 convolution with a bias, although a normalisation may follow, as in TensorFlow's original.
inline nn::Conv2d pointwise(int from, int to) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, 1));
}

/// First values, uniform by inputs and outputs.
inline void spread_uniformly(const torch::Tensor& weight, std::int64_t groups = 1) {
  const auto area = weight[0][0].numel();
  const auto sum = weight.size(1) * area + weight.size(0) * area / groups;
  const double limit = std::sqrt(6.0 / static_cast<double>(sum));
  nn::init::uniform_(weight, -limit, limit);
}

/// First values, normal by inputs.
inline void spread_by_inputs(const torch::Tensor& weight) {
  const auto inputs = static_cast<double>(weight[0].numel());
  nn::init::normal_(weight, 0, std::sqrt(1.0 / inputs));
}

struct ConvBnAct2dImpl : nn::Module {
  explicit ConvBnAct2dImpl(int from)
      : conv(register_module("conv", pointwise(from, kChannels))),
        bn(register_module("bn", batch_norm())) {
    spread_uniformly(conv->weight);
    nn::init::zeros_(conv->bias);
  }

  torch::Tensor forward(const torch::Tensor& x) { return bn(conv(x)); }

  nn::Conv2d conv;
  nn::BatchNorm2d bn;
};
TORCH_MODULE(ConvBnAct2d);

/// Each channel by itself, then across channels.
struct SeparableConv2dImpl : nn::Module {
  SeparableConv2dImpl(int outputs, bool normalise)
      : conv_dw(register_module("conv_dw", depthwise_convolution(kChannels, 3, 1))),
        conv_pw(register_module("conv_pw", pointwise(kChannels, outputs))) {
    if (normalise) bn = register_module("bn", batch_norm());
    nn::init::zeros_(conv_pw->bias);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = conv_pw(conv_dw(x));
    return bn ? bn(y) : y;
  }

  nn::Conv2d conv_dw, conv_pw;
  nn::BatchNorm2d bn{nullptr};
};
TORCH_MODULE(SeparableConv2d);

/// A map of the pyramid that is made, or one that it is made of.
struct Node {
  int channels;
  std::int64_t side;
};

/// Makes a map one of another level: other channels, and half or twice the size.
struct ResampleFeatureMapImpl : nn::Module {
  ResampleFeatureMapImpl(const Node& from, std::int64_t side)
      : from_side(from.side), to_side(side) {
    if (from.channels == kChannels) return;
    conv = register_module("conv", ConvBnAct2d(from.channels));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = conv ? conv(x) : x;
    if (from_side > to_side) {
      constexpr double kNothing = -std::numeric_limits<double>::infinity();
      return torch::max_pool2d(pad_same(y, 3, 2, kNothing), 3, 2);
    }
    return from_side < to_side ? torch::upsample_nearest2d(y, {to_side, to_side}) : y;
  }

  std::int64_t from_side, to_side;
  ConvBnAct2d conv{nullptr};
};
TORCH_MODULE(ResampleFeatureMap);

/// The maps that one map is made of, numbered through the layer's inputs and its own maps.
struct Recipe {
  std::size_t level;
  std::vector<std::size_t> inputs;
};

/// Down from the coarsest level and up again.
inline const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all{{3, {3, 4}},     {2, {2, 5}},    {1, {1, 6}},
                                       {0, {0, 7}},     {1, {1, 7, 8}}, {2, {2, 6, 9}},
                                       {3, {3, 5, 10}}, {4, {4, 11}}};
  return all;
}

/// A sum by weights that are learnt, kept positive and divided by their sum.
struct FpnCombineImpl : nn::Module {
  FpnCombineImpl(const std::vector<Node>& nodes, const Recipe& recipe, std::int64_t side)
      : inputs(recipe.inputs),
        edge_weights(register_parameter(
            "edge_weights", torch::ones({static_cast<std::int64_t>(recipe.inputs.size())}))) {
    auto named = register_module("resample", nn::ModuleDict());
    for (const auto input : inputs) {
      const auto& map = resample.emplace_back(ResampleFeatureMap(nodes[input], side));
      named->update({{std::to_string(input), map.ptr()}});
    }
  }

  torch::Tensor forward(const std::vector<torch::Tensor>& maps) {
    std::vector<torch::Tensor> parts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      parts.push_back(resample[i](maps[inputs[i]]));
    }
    const auto weights = torch::relu(edge_weights);
    const auto sum = weights.sum();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = parts[i] * weights[static_cast<std::int64_t>(i)] / (sum + 0.0001);
    }
    return torch::stack(parts, -1).sum(-1);
  }

  std::vector<std::size_t> inputs;
  torch::Tensor edge_weights;
  std::vector<ResampleFeatureMap> resample;
};
TORCH_MODULE(FpnCombine);

struct FnodeImpl : nn::Module {
  explicit FnodeImpl(FpnCombine inputs)
      : combine(register_module("combine", std::move(inputs))),
        conv(SeparableConv2d(kChannels, /*normalise=*/true)) {
    register_module("after_combine", nn::Sequential())->push_back("conv", conv);
    spread_uniformly(conv->conv_dw->weight, kChannels);
    spread_uniformly(conv->conv_pw->weight);
  }

  torch::Tensor forward(const std::vector<torch::Tensor>& maps) {
    auto x = combine(maps);
    return conv(torch::silu_(x));
  }

  FpnCombine combine;
  SeparableConv2d conv;
};
TORCH_MODULE(Fnode);

/// One pass over the pyramid.
struct BiFpnLayerImpl : nn::Module {
  explicit BiFpnLayerImpl(std::vector<Node> nodes)
      : fnode(register_module("fnode", nn::ModuleList())) {
    for (const auto& recipe : recipes()) {
      const auto side = nodes[recipe.level].side;
      fnode->push_back(Fnode(FpnCombine(nodes, recipe, side)));
      nodes.push_back({kChannels, side});
    }
  }

  std::vector<torch::Tensor> forward(std::vector<torch::Tensor> maps) {
    for (const auto& node : *fnode) maps.push_back(node->as<FnodeImpl>()->forward(maps));
    return {maps.end() - kLevels, maps.end()};
  }

  nn::ModuleList fnode;
};
TORCH_MODULE(BiFpnLayer);

/// The backbone's three maps and two coarser ones, combined again and again.
struct BiFpnImpl : nn::Module {
  static constexpr int kLayers = 4;

  BiFpnImpl(const std::array<int, 3>& channels, std::int64_t image)
      : BiFpnImpl(channels, sides_of(image)) {}

  std::vector<torch::Tensor> forward(std::vector<torch::Tensor> maps) {
    for (auto& coarser : resample) maps.push_back(coarser(maps.back()));
    for (const auto& layer : *cell) maps = layer->as<BiFpnLayerImpl>()->forward(std::move(maps));
    return maps;
  }

  std::vector<ResampleFeatureMap> resample;
  nn::ModuleList cell{nullptr};

 private:
  BiFpnImpl(const std::array<int, 3>& channels, const std::array<std::int64_t, kLevels>& sides) {
    auto named = register_module("resample", nn::ModuleDict());
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < channels.size(); ++i) nodes.push_back({channels[i], sides[i]});
    for (std::size_t i = channels.size(); i < sides.size(); ++i) {
      const auto& map = resample.emplace_back(ResampleFeatureMap(nodes.back(), sides[i]));
      named->update({{std::to_string(i), map.ptr()}});
      nodes.push_back({kChannels, sides[i]});
    }
    cell = register_module("cell", nn::ModuleList());
    for (int i = 0; i < kLayers; ++i) {
      cell->push_back(BiFpnLayer(nodes));
      for (auto& node : nodes) node.channels = kChannels;
    }
  }
};
TORCH_MODULE(BiFpn);

/// The same convolutions for all levels, but normalisations for each of them.
struct HeadNetImpl : nn::Module {
  static constexpr int kRepeats = 3;

  /// `bias`: what the last layer begins with.
  HeadNetImpl(int outputs, double bias)
      : conv_rep(register_module("conv_rep", nn::ModuleList())),
        bn_rep(register_module("bn_rep", nn::ModuleList())),
        predict(
            register_module("predict", SeparableConv2d(outputs * kAnchors, /*normalise=*/false))) {
    for (int i = 0; i < kRepeats; ++i) {
      conv_rep->push_back(SeparableConv2d(kChannels, /*normalise=*/false));
      nn::ModuleList levels;
      for (int level = 0; level < kLevels; ++level) {
        nn::Sequential norm;
        norm->push_back("bn", batch_norm());
        levels->push_back(norm);
      }
      bn_rep->push_back(levels);
    }
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) spread_by_inputs(conv->weight);
    }
    nn::init::constant_(predict->conv_pw->bias, bias);
  }

  std::vector<torch::Tensor> forward(const std::vector<torch::Tensor>& maps) {
    std::vector<torch::Tensor> outputs;
    for (std::size_t level = 0; level < maps.size(); ++level) {
      auto x = maps[level];
      for (std::size_t i = 0; i < kRepeats; ++i) {
        x = conv_rep[i]->as<SeparableConv2dImpl>()->forward(x);
        x = norm_of(i, level).forward(x);
        x = torch::silu_(x);
      }
      outputs.push_back(predict(x));
    }
    return outputs;
  }

  nn::ModuleList conv_rep, bn_rep;
  SeparableConv2d predict;

 private:
  nn::SequentialImpl& norm_of(std::size_t repeat, std::size_t level) {
    auto* levels = bn_rep[repeat]->as<nn::ModuleListImpl>();
    return *levels->ptr(level)->as<nn::SequentialImpl>();
  }
};
TORCH_MODULE(HeadNet);

}  // namespace torchwatch::models::efficientdet
